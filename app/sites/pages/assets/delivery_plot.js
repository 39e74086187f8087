"use strict";
// Plots of the delivery over the last hour, one value a minute: envelopes, and the longest lag; recoveries are
// shaded, minutes with losses marked. The texts are the page's own, in data attributes; without this script
// the table below the plots says the same.
(() => {
  const place = document.getElementById("delivery-plot");
  if (!place) return;
  const note = document.getElementById("delivery-note");
  const text = place.dataset;
  const colour = window.plotColour;
  const MINUTE = 60;
  const MARK = 5; // half the width of a mark (px)
  const LABELS = [[60, "{HH}:{mm}", null, null, null, null, null, null, 1]];
  const plots = [];
  let shown = null;

  const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const clock = (millis) => new Date(millis).toISOString().slice(11, 16);
  const width = () => Math.max(place.clientWidth, 240);

  /** A value for every minute of the hour, null where no process published to the tenant. */
  function columns(history) {
    const known = new Map(history.minutes.map((each) => [each[0], each]));
    const times = [], envelopes = [], lags = [];
    for (let at = history.since; at < history.until; at += MINUTE * 1000) {
      const found = known.get(at);
      times.push(at / 1000);
      envelopes.push(found ? found[1] : null);
      lags.push(found ? found[2] / 1000 : null);
    }
    return { times, envelopes, lags };
  }

  function shade(plot) {
    const { ctx, bbox } = plot;
    const x = (at) => Math.min(Math.max(plot.valToPos(at / 1000, "x", true), bbox.left), bbox.left + bbox.width);
    ctx.save();
    ctx.fillStyle = colour("line");
    ctx.globalAlpha = 0.6;
    for (const [since, until] of shown.recoveries) {
      const left = x(since), right = x(until ?? shown.until);
      ctx.fillRect(left, bbox.top, Math.max(right - left, 2), bbox.height);
    }
    ctx.restore();
  }

  /** A line and a triangle at every minute with losses: they differ from the rest by shape, too. */
  function mark(plot) {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.fillStyle = colour("bad");
    for (const [minute, , , dropped, notices] of shown.minutes) {
      if (!dropped && !notices) continue;
      const x = plot.valToPos(minute / 1000 + MINUTE / 2, "x", true);
      ctx.fillRect(x - 0.5 * ratio, bbox.top, ratio, bbox.height);
      ctx.beginPath();
      ctx.moveTo(x - MARK * ratio, bbox.top);
      ctx.lineTo(x + MARK * ratio, bbox.top);
      ctx.lineTo(x, bbox.top + 1.6 * MARK * ratio);
      ctx.fill();
    }
    ctx.restore();
  }

  function describe(plot) {
    const { left } = plot.cursor;
    if (left === null || left < 0) return text.hint;
    const at = plot.posToVal(left, "x") * 1000;
    const found = shown.minutes.find(([minute]) => minute <= at && at < minute + MINUTE * 1000);
    const parts = [clock(at)];
    if (found) {
      const [, envelopes, lag, dropped, notices] = found;
      parts.push(fill(text.minute, { envelopes, lag: (lag / 1000).toFixed(1) }));
      if (dropped) parts.push(fill(text.dropped, { dropped }));
      if (notices) parts.push(text.notice);
    } else parts.push(text.unknown);
    for (const [since, until, id] of shown.recoveries) {
      if (since <= at && at <= (until ?? shown.until)) parts.push(fill(text.recovery, { id }));
    }
    return parts.join(" · ");
  }

  function plotted(canvas, series, values, height, unit) {
    const axis = { stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "13px system-ui, sans-serif" };
    const plot = new uPlot({
      width: width(),
      height,
      legend: { show: false },
      cursor: { sync: { key: "delivery" }, drag: { x: false, y: false }, points: { show: false }, y: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: {
        x: { time: true, range: () => [shown.since / 1000, shown.until / 1000] },
        y: { range: (_, low, high) => [0, Math.max(unit, high ?? 0) * 1.15] },
      },
      padding: [8, 4, 0, 0],
      axes: [{ ...axis, values: LABELS, space: 60, size: 28 }, { ...axis, size: 56, space: 32 }],
      series: [{}, series],
      hooks: { drawAxes: [shade], draw: [mark], setCursor: [(own) => { note.textContent = describe(own); }] },
    }, values, canvas);
    plots.push(plot);
  }

  function draw(history) {
    shown = history;
    const { times, envelopes, lags } = columns(history);
    place.hidden = !history.minutes.length;
    if (!history.minutes.length) {
      note.textContent = text.empty;
      return;
    }
    if (plots.length) {
      plots[0].setData([times, envelopes]);
      plots[1].setData([times, lags]);
      return;
    }
    note.textContent = text.hint;
    const [first, second] = place.querySelectorAll(".canvas");
    const bars = uPlot.paths.bars({ size: [0.8, 24], align: 1 });
    plotted(first, { fill: colour("brand"), width: 0, paths: bars, points: { show: false } }, [times, envelopes], 160, 10);
    const steps = uPlot.paths.stepped({ align: 1 });
    plotted(second, { stroke: colour("ink"), width: 2, paths: steps, points: { show: false } }, [times, lags], 120, 1);
    addEventListener("resize", () => plots.forEach((each) => each.setSize({ width: width(), height: each.height })));
  }

  function read() {
    fetch(text.source, { headers: { Accept: "application/json" } })
      .then((response) => {
        if (!response.ok) throw new Error(String(response.status));
        return response.json();
      })
      .then(draw)
      .catch(() => { note.textContent = text.failed; });
  }

  read();
  // Samples are written a moment after each minute.
  setInterval(() => { if (!document.hidden) read(); }, MINUTE * 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) read(); });
})();
