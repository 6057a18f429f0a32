# SPDX-License-Identifier: BSD-3-Clause

"""Opens a report in headless Chromium, clicks, and returns what the page then shows and saves."""

import html
import json
import re
import shutil
import subprocess
import tempfile

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--virtual-time-budget=2000", "--dump-dom")

# A script that runs after the page's own script, clicks, and adds an element with the results to the page.
CLICKS = """<script>
const result = {errors: []};
addEventListener("error", event => result.errors.push(event.message));
const blobs = [];
URL.createObjectURL = blob => { blobs.push(blob); return "#"; };
(async () => {
  const table = document.querySelector("table.sortable");
  const order = () => [...table.rows].slice(1).map(row => row.cells[0].textContent);
  const heading = name => [...table.rows[0].cells].find(cell => cell.textContent === name);
  result.start = order();
  heading("COLUMN").querySelector("button").click();
  result.up = order();
  heading("COLUMN").querySelector("button").click();
  result.down = order();
  for (const button of document.querySelectorAll(".tools button")) button.click();
  result.saved = await Promise.all(blobs.map(blob => blob.text()));
  const point = (mark, x, y) => mark.dispatchEvent(
    new PointerEvent("pointermove", {clientX: x, clientY: y}));
  const note = document.querySelector(".note");
  const heat = document.querySelector("[data-amounts]");
  if (heat) {
    const area = heat.getBoundingClientRect();
    point(heat, area.left + .75 * area.width, area.top + .25 * area.height);
    result.heat = note.textContent;
  }
  const bar = document.querySelector("rect.work[data-note]");
  if (bar) { point(bar, 1, 1); result.bar = note.textContent; }
  result.width = document.documentElement.scrollWidth <= innerWidth;
  const out = document.createElement("pre");
  out.id = "result";
  out.textContent = JSON.stringify(result);
  document.body.append(out);
})();
</script></body>"""


def clicked(page, column, size="1280,900"):
    """Opens a page, sorts its first table twice by a column, clicks the buttons that save data, and moves the pointer
    over the pictures. Returns what the page showed and what it saved."""
    text = page.read_text(encoding="utf-8").replace("</body>", CLICKS.replace("COLUMN", column))
    copy = page.with_name(f"clicked_{page.name}")
    copy.write_text(text, encoding="utf-8")
    try:
        with tempfile.TemporaryDirectory() as profile:
            dom = subprocess.run([BROWSER, *FLAGS, f"--user-data-dir={profile}", f"--window-size={size}", copy.as_uri()],
                                 capture_output=True, text=True, timeout=300, check=True).stdout
    finally:
        copy.unlink()
    found = re.search(r'<pre id="result">(.*?)</pre>', dom, re.S)
    if not found:
        raise AssertionError(dom[-2000:])
    result = json.loads(html.unescape(found[1]))
    if result["errors"]:
        raise AssertionError(result["errors"])
    return result
