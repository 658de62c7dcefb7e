"""Looks at what run_report.sh has made.

  check_report.py log EVENTS | page PAGE BROWSER | tensorboard FOLDER
"""

import json
import os
import subprocess
import sys
import tempfile

# Colours of the style sheet: page, card, and the first curve.
LIGHT = ((246, 247, 249), (255, 255, 255), (37, 99, 235))
DARK = ((18, 22, 28), (27, 33, 42), (110, 160, 255))

# Appended to a copy of the page: complains of text that leaves its drawing or
# lies on other text, and of a page that is wider than its window.
PROBE = """<script>
const faults = [];
for (const svg of document.querySelectorAll('svg.chart')) {
  const frame = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll('text')].map(
      text => [text.textContent, text.getBoundingClientRect()]);
  boxes.forEach(([text, a], i) => {
    if (a.left < frame.left - 1 || a.right > frame.right + 1 ||
        a.top < frame.top - 1 || a.bottom > frame.bottom + 1) {
      faults.push('outside: ' + text);
    }
    for (const [other, b] of boxes.slice(0, i)) {
      if (a.left < b.right - 1 && b.left < a.right - 1 &&
          a.top < b.bottom - 3 && b.top < a.bottom - 3) {
        faults.push('overlap: ' + other + ' | ' + text);
      }
    }
  });
}
if (document.documentElement.scrollWidth > innerWidth) faults.push('wide page');
const result = document.createElement('pre');
result.textContent = 'PROBED ' + document.querySelectorAll('svg.chart').length +
    ' [' + faults.join('; ') + ']';
document.body.append(result);
</script>"""


def check_log(filename):
    events = []
    with open(filename, encoding="utf-8") as log:
        for line in log:
            try:
                events.append(json.loads(line))
            except json.JSONDecodeError:
                assert line.endswith('"lo\n'), line
    assert events[0]["event"] == "run" and events[0]["version"] == 1
    assert "solver" in events[0] and events[0]["layers"][0]["name"] == "data"
    kinds = {event["event"] for event in events}
    assert kinds >= {"run", "display", "test", "compression", "memory",
                     "snapshot", "end"}, kinds
    starts = [e["iteration"] for e in events if e["event"] == "run"]
    assert starts == [0, 10], starts
    shown = [e["iteration"] for e in events if e["event"] == "display"]
    assert shown == list(range(11)) + list(range(10, 21)), shown
    memory = [e for e in events if e["event"] == "memory"][-1]
    packed = 1 + memory["kinds"].index("packed")
    assert max(row[packed] for row in memory["samples"]) > 0
    assert any(row[1] == "backward" for row in memory["layers"])
    end = events[-1]
    assert end["event"] == "end" and end["outcome"] == "done"
    assert end["process_peak"] > 0
    inputs = {i["layer"]: i for i in end["inputs"]}
    assert inputs["scores"]["raw"] > inputs["scores"]["stored"] > 0
    assert inputs["scores"]["sigma_measured"] > 0


def run_browser(browser, folder, *arguments):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu",
               "--hide-scrollbars", "--user-data-dir=" + folder, *arguments]
    return subprocess.run(command, check=True, timeout=200, text=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def check_page(page, browser):
    import cv2

    with open(page, encoding="utf-8") as file:
        html = file.read()
    for foreign in ("<script", "http:", "https:", "@import", "url("):
        assert foreign not in html, foreign
    assert "A &lt;tiny&gt; net" in html
    with tempfile.TemporaryDirectory() as folder:
        probed = os.path.join(folder, "probed.html")
        with open(probed, "w", encoding="utf-8") as file:
            file.write(html.replace("</body>", PROBE + "</body>"))
        for width in (1300, 420):
            dom = run_browser(browser, folder, f"--window-size={width},2600",
                              "--dump-dom", "file://" + probed)
            result = dom[dom.rindex("PROBED"):].split("</pre>")[0]
            print(width, result)
            assert result.endswith("[]") and int(result.split()[1]) >= 7, result
        counts = []
        for (back, card, curve), flags in (
                (LIGHT, ["--blink-settings=preferredColorScheme=1"]),
                (DARK, ["--blink-settings=preferredColorScheme=0"])):
            picture = os.path.join(folder, "picture.png")
            run_browser(browser, folder, *flags, "--window-size=1300,2600",
                        "--screenshot=" + picture,
                        "file://" + os.path.abspath(page))
            pixels = cv2.imread(picture)[:, :, ::-1].astype(int)

            def share(colour, area):
                near = abs(area - colour).max(axis=2) <= 3
                return near.mean()

            assert share(back, pixels[:, :10]) > 0.99, "the margin"
            assert share(card, pixels) > 0.2, "the cards"
            # The first chart, left, is of losses.
            assert share(curve, pixels[250:700, 20:640]) > 5e-4, "the loss"
            counts.append(share(curve, pixels))
        print("pixels of curves:", counts)


def check_tensorboard(folder):
    from tensorboard.backend.event_processing import event_accumulator

    board = event_accumulator.EventAccumulator(folder)
    board.Reload()
    tags = board.Tags()["scalars"]
    for tag in ("train/loss", "train/smoothed_loss", "train/learning_rate",
                "train/output/loss", "test/accuracy", "test/loss",
                "compression/ratio", "bound/scores", "ratio/scores",
                "sigma_measured/scores"):
        assert tag in tags, (tag, tags)
    steps = [event.step for event in board.Scalars("train/loss")]
    assert steps == list(range(21)), steps
    rates = {round(e.value, 6) for e in board.Scalars("train/learning_rate")}
    assert rates == {0.001}, rates
    assert all(e.value > 1 for e in board.Scalars("compression/ratio"))


if __name__ == "__main__":
    {"log": check_log, "page": check_page, "tensorboard": check_tensorboard}[
        sys.argv[1]](*sys.argv[2:])
