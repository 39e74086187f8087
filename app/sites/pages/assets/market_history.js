"use strict";
// The plot of a market's price: steps, suspensions shaded, entries of the ledger as vertical lines, and, where
// the page has them, what happened in the match as short lines at the bottom. The texts are the page's own, in
// data attributes; without this script the table below says the same.
(() => {
  const place = document.getElementById("plot");
  const note = document.getElementById("plot-note");
  const text = place.dataset;
  const css = window.plotColour;
  // Labels of the time axis, by its step in seconds: every label, and what stands below it where another year,
  // month, day, hour, minute or second begins.
  const DAY = "{YYYY}-{MM}-{DD}";
  const LABELS = [
    [86400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", `\n${DAY}`, null, `\n${DAY}`, null, null, null, 1],
    [1, ":{ss}", `\n${DAY} {HH}:{mm}`, null, `\n${DAY} {HH}:{mm}`, null, "\n{HH}:{mm}", null, 1],
    [0.001, ":{ss}.{fff}", `\n${DAY} {HH}:{mm}`, null, `\n${DAY} {HH}:{mm}`, null, "\n{HH}:{mm}", null, 1],
  ];
  const size = () => ({ width: Math.max(place.clientWidth, 240), height: 320 });

  function columns(history) {
    // A last point at the present, or at the last thing that happened, so that steps and shades have an end.
    const times = history.points.map(([at]) => at / 1000);
    const odds = history.points.map(([, value]) => value);
    const open = odds.length && odds[odds.length - 1] !== null;
    const marked = history.marks.map(([at]) => at / 1000);
    const end = Math.max(open ? Date.now() / 1000 : 0, ...marked, times[times.length - 1]);
    if (end > times[times.length - 1]) {
      times.push(end);
      odds.push(odds[odds.length - 1]);
    }
    return [times, odds];
  }

  function shade(plot, history) {
    const { ctx, bbox } = plot;
    const x = (at) => Math.min(Math.max(plot.valToPos(at / 1000, "x", true), bbox.left), bbox.left + bbox.width);
    ctx.save();
    ctx.fillStyle = css("bad-ground");
    for (const [since, until] of history.suspensions) {
      const left = x(since);
      const right = until === null ? bbox.left + bbox.width : x(until);
      ctx.fillRect(left, bbox.top, Math.max(right - left, 1), bbox.height);
    }
    ctx.fillStyle = css("soft");
    for (const [at, kind] of history.facts || []) {
      const height = kind === "round" || kind === "command" ? 24 : 12;
      if (at / 1000 >= plot.scales.x.min) ctx.fillRect(x(at) - 0.5, bbox.top + bbox.height - height, 1, height);
    }
    ctx.fillStyle = css("ink");
    for (const [at] of history.marks) ctx.fillRect(x(at) - 1, bbox.top, 2, bbox.height);
    ctx.restore();
  }

  function describe(plot, history) {
    const { left } = plot.cursor;
    if (left === null || left < 0) return "";
    const at = plot.posToVal(left, "x") * 1000;
    const within = history.suspensions.find(([since, until]) => since <= at && (until === null || at < until));
    const near = history.marks.find(([when]) => Math.abs(plot.valToPos(when / 1000, "x") - left) < 6);
    const parts = [];
    const facts = (history.facts || []).filter(([when]) => Math.abs(plot.valToPos(when / 1000, "x") - left) < 4);
    for (const [, , what] of facts.slice(-3)) parts.push(what);
    if (near) parts.push(text[near[2]] || near[2]);
    if (within) parts.push(`${text.suspended}: ${within[2]}`);
    return parts.join(" · ");
  }

  function draw(history) {
    if (!history.points.length) {
      note.textContent = text.empty;
      return;
    }
    const axis = { stroke: css("soft"), grid: { stroke: css("line"), width: 1 }, ticks: { stroke: css("line") } };
    const plot = new uPlot({
      ...size(),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: { x: { time: true } },
      axes: [{ ...axis, values: LABELS }, { ...axis, label: text.odds }],
      series: [
        { label: text.time, value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" },
        { label: text.odds, stroke: css("brand"), width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: history.points.length < 60 } },
      ],
      hooks: {
        drawClear: [(own) => shade(own, history)],
        setCursor: [(own) => { note.textContent = describe(own, history); }],
      },
    }, columns(history), place);
    addEventListener("resize", () => plot.setSize(size()));
    if (!history.complete) document.getElementById("plot-cut").hidden = false;
  }

  fetch(text.source, { headers: { Accept: "application/json" } })
    .then((response) => {
      if (!response.ok) throw new Error(String(response.status));
      return response.json();
    })
    .then(draw)
    .catch(() => { note.textContent = text.failed; });
})();
