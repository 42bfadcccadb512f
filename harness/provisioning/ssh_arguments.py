"""Arguments of SSH that an inventory may give: none that runs a program here, writes a file or hides a host.

Two options are left out on purpose. `ControlPath` makes a socket wherever it says. `UpdateHostKeys` writes
into the first of two files of known hosts, whatever file that is, lines that begin with `HostKeyAlias`: so a
server got `restrict` and its own key into a file, as an `authorized_keys` has them (OpenSSH 9.2).
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Final

from rogue.remote.destination import NO_CONFIG
from rogue.remote.home import at_home
from rogue.remote.words import HOPS, HOST, PATH, USER, Word

_FLAGS: Final = frozenset({"-4", "-6", "-a", "-C", "-q", "-T", "-v", "-vv", "-vvv", "-x"})
_WORDS: Final = Word(re.compile(r"[A-Za-z0-9+^*@.,_-][A-Za-z0-9+^*?!@.,_ -]{0,1023}"), "plain words")
"""Names of algorithms, numbers, times, yes and no."""
_YES: Final = Word(re.compile(r"(?i:yes|true)"), "yes")
_INTERFACE: Final = Word(re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,14}"), "a network interface")
_AGENT: Final = Word(re.compile(rf"\$?SSH_AUTH_SOCK|{PATH.pattern.pattern}"), "an agent's socket")
_WITH_VALUE: Final = {
    **{"-b": HOST, "-B": _INTERFACE, "-c": _WORDS, "-i": PATH},
    **{"-J": HOPS, "-l": USER, "-m": _WORDS, "-p": _WORDS},
}
_OPTIONS: Final[Mapping[str, Word]] = {
    **dict.fromkeys(
        (
            *("addressfamily", "batchmode", "ciphers", "compression", "connectionattempts", "connecttimeout"),
            *("controlmaster", "controlpersist", "gssapiauthentication", "hostkeyalgorithms"),
            *("identitiesonly", "ipqos", "kexalgorithms", "loglevel", "macs", "passwordauthentication"),
            *("port", "preferredauthentications", "pubkeyacceptedalgorithms", "pubkeyauthentication"),
            *("serveralivecountmax", "serveraliveinterval", "tcpkeepalive"),
        ),
        _WORDS,
    ),
    **dict.fromkeys(("bindaddress", "hostkeyalias", "hostname"), HOST),
    **dict.fromkeys(("certificatefile", "globalknownhostsfile", "identityfile", "userknownhostsfile"), PATH),
    **{"bindinterface": _INTERFACE, "identityagent": _AGENT, "proxyjump": HOPS},
    **{"stricthostkeychecking": _YES, "user": USER},
}
"""Of SSH, in small letters, with what their values look like."""
_UNVERIFIED: Final = re.compile(r"stricthostkeychecking[\s='\"]*(no|off|false|accept-new)\b", re.IGNORECASE)
_OPTION: Final = re.compile(r"([A-Za-z0-9]+)(?: *= *| +)([^ ].*)")
_QUOTED: Final = re.compile(r'"([^"]*)"')
_CONFIGURATIONS: Final = ("~/.ssh", "/etc/ssh")
"""Where an SSH configuration is the user's own: one can run programs (`Match exec`)."""


def forbidden(text: str) -> Iterator[str]:
    """Arguments that are not known to be harmless; all of the text if it is no list of words."""
    try:
        words = iter(shlex.split(text))
    except ValueError:
        yield text
        return
    for word in words:
        if word in _FLAGS:
            continue
        name = word[:2]
        value = word[2:] or next(words, "")
        if not _is_harmless(name, value):
            yield f"{name} {value}".strip()


def is_unverified(text: str) -> bool:
    """Whether arguments switch off that host keys are verified, however they are quoted."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    return any(_UNVERIFIED.search(each) for each in (text, *words))


def _is_harmless(name: str, value: str) -> bool:
    if name == "-F":
        return _is_users_own(value)
    if name != "-o":
        return name in _WITH_VALUE and _WITH_VALUE[name].fits(value)
    found = _OPTION.fullmatch(value)
    if found is None or (word := _OPTIONS.get(found[1].lower())) is None:
        return False
    quoted = _QUOTED.fullmatch(found[2])
    return word.fits(found[2] if quoted is None else quoted[1])


def _is_users_own(config: str) -> bool:
    """Whether path and target are below the user's own directories: others may change other targets."""
    if config == NO_CONFIG:
        return True
    place = at_home(config)
    if not PATH.fits(config) or not place.is_absolute() or ".." in place.parts:
        return False
    return any(
        place.is_relative_to(at_home(each)) and place.resolve().is_relative_to(at_home(each).resolve())
        for each in _CONFIGURATIONS
    )
