"""Names of transports."""

import pytest

from rogue.workloads.transports import (
    ALL_FEATURES,
    BASES,
    FEATURES,
    SPRAYING,
    TransportNameError,
    parse_transport,
)


@pytest.mark.parametrize(
    ("name", "base", "features", "service"),
    [
        ("rogue", "rogue", (), "rc"),
        ("rogue-uc", "rogue-uc", (), "uc"),
        ("roce+dcqcn", "roce", ("dcqcn",), "rc"),
        ("roce+pfc+dcqcn", "roce", ("pfc", "dcqcn"), "rc"),
        ("dctcp", "dctcp", (), "tcp"),
        ("irn+dcqcn+spray", "irn", ("dcqcn", "spray"), "rc"),
    ],
)
def test_names(name: str, base: str, features: tuple[str, ...], service: str) -> None:
    transport = parse_transport(name)
    assert (transport.base, transport.features, transport.service) == (base, features, service)
    assert str(transport) == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rouge", "one of rogue, rogue-uc, roce"),
        ("", "one of rogue"),
        ("roce+", "roce or roce with +pfc"),
        ("dctcp+pfc", "expected dctcp"),
        ("roce+ecn", "roce or roce with +pfc, +dcqcn"),
        ("roce+pfc+pfc", "each feature once"),
        ("roce+dcqcn+timely", "at most one of dcqcn, timely"),
        ("rogue+spray", "rogue without +spray, because its window and its base round trip"),
        ("rogue-uc+pfc+spray", "rogue-uc without +spray, because UC gives up a message"),
        ("roce-uc+spray", "roce-uc without +spray, because UC gives up a message"),
        ("dctcp+spray", "dctcp without +spray, because a TCP treats"),
        ("iwarp+spray", "iwarp without +spray, because a TCP treats"),
        ("roce+rocc+spray", "roce+rocc without +spray, because switches send"),
        ("irn+spray+hpcc", "irn+hpcc without +spray, because it compares"),
        ("resilient_roce+spray", "expected resilient_roce"),
    ],
)
def test_wrong_names_say_what_there_is(name: str, words: str) -> None:
    with pytest.raises(TransportNameError) as caught:
        parse_transport(name)
    assert words in str(caught.value)


@pytest.mark.parametrize("base", BASES)
def test_a_base_that_is_never_sprayed_says_why(base: str) -> None:
    takes_any = BASES[base].features == ALL_FEATURES
    assert takes_any == (SPRAYING in BASES[base].features)
    assert not (takes_any and BASES[base].single_path_reason)


@pytest.mark.parametrize("base", BASES)
def test_base_is_described_and_its_features_exist(base: str) -> None:
    assert BASES[base].meaning
    assert set(BASES[base].features) <= set(FEATURES)
