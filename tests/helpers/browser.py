"""A real browser without a screen: what it makes of a page, and what it complains about."""

import json
import re
import subprocess
from pathlib import Path

from helpers.needs import path_of

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE 127.0.0.1",
)  # fmt: skip
LOGGED = ("--dump-dom", "--enable-logging=stderr", "--log-level=0")
DARK = "--blink-settings=preferredColorScheme=0"
# Measures the contrast of every visible text with what is painted behind it, and writes the worst ones down.
PROBE = """
<script>
function channels(text) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
  const data = canvas.getImageData(0, 0, 1, 1).data;
  return [data[0], data[1], data[2], data[3] / 255];
}
function luminance(c) {
  const parts = c.slice(0, 3).map(v => v / 255);
  const linear = parts.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}
function paper(element) {
  for (let e = element; e; e = e.parentElement) {
    const c = channels(getComputedStyle(e).backgroundColor);
    if (c[3] > 0.99) return c;
  }
  return [255, 255, 255, 1];
}
window.addEventListener("load", () => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || ["SCRIPT", "STYLE", "title", "desc"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const ink = channels(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const pair = [luminance(ink), luminance(paper(element))].sort((a, b) => b - a);
    found.push([Math.round(100 * (pair[0] + 0.05) / (pair[1] + 0.05)) / 100, node.data.trim().slice(0, 40)]);
  }
  found.sort((a, b) => a[0] - b[0]);
  const links = [...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href"));
  const anchors = links.filter(href => href.startsWith("#")).map(href => href.slice(1));
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  const downloads = links.filter(href => href.startsWith("data:")).map(href => {
    const [kind, body] = [href.slice(0, href.indexOf(",")), href.slice(href.indexOf(",") + 1)];
    return [kind, (kind.endsWith(";base64") ? atob(body) : decodeURIComponent(body)).length];
  });
  const out = document.createElement("pre");
  out.id = "measured";
  out.textContent = JSON.stringify({
    worst: found.slice(0, 5), count: found.length,
    paper: channels(getComputedStyle(document.body).backgroundColor).slice(0, 3),
    loaded: performance.getEntriesByType("resource").map(entry => entry.name),
    anchors: anchors.length, dangling: anchors.filter(id => !document.getElementById(id)),
    twice: ids.filter((id, n) => ids.indexOf(id) !== n), downloads,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  });
  document.body.append(out);
});
</script>
"""


def browse(page: Path | str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Load a file or an address; give what the browser prints."""
    url = page if isinstance(page, str) else page.as_uri()
    command = [path_of("chromium"), *QUIET, f"--user-data-dir={folder / 'profile'}", *options, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done


def steps_in(page: Path, folder: Path, steps: str, *options: str, view: str = "") -> dict[str, object]:
    """Load a page at a view, run a function's body in it, and give what it returns.

    The policy that forbids other scripts than the page's own is taken out for that.
    """
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    script = f"""<script>window.addEventListener("load", () => {{
      const out = document.createElement("pre");
      out.id = "measured";
      out.textContent = JSON.stringify((() => {{ {steps} }})());
      document.body.append(out);
    }});</script></body>"""
    changed = folder / "steps.html"
    changed.write_text(text.replace("</body>", script))
    return measured(f"{changed.as_uri()}{view}", folder, *options)


def with_probe(report: Path, path: Path, extra: str = "") -> Path:
    """Add the script that measures the page; the policy that forbids scripts is taken out for that."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", report.read_text())
    path.write_text(text.replace("</body>", extra + PROBE + "</body>"))
    return path


def measured(page: Path | str, folder: Path, *options: str) -> dict[str, object]:
    """What the probe on a page has measured."""
    dom = browse(page, folder, "--dump-dom", *options).stdout
    match = re.search(r'<pre id="measured">(.*?)</pre>', dom)
    assert match is not None, "the page did not load to its end"
    content = json.loads(match.group(1).replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    assert isinstance(content, dict)
    return content


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What the browser did not like."""
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]
