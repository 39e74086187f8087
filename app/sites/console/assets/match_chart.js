"use strict";
// The chart of a match or of a market: our chance, what was on sale and the reference as lines that differ by
// their stroke; suspensions shaded; rounds by number at the top; kills and the bomb in a lane for each team, home's
// above and away's below; commands and entries of the ledger as vertical lines. The pointer, or the arrows, say
// what was so in that second. All texts are the page's own, in data attributes.
(() => {
  const place = document.getElementById("plot");
  const figures = document.getElementById("chart-figures");
  const happened = document.getElementById("chart-facts");
  const text = place.dataset;
  const LANE = 14; // px: the height of a team's lane
  const TOP = 18; // px: the numbers of rounds
  const HEIGHT = 240;
  const PAUSE = 2000; // ms between two requests
  const MOST = 10000; // points that are held
  const CHANCES = [0, 0.25, 0.5, 0.75, 1];
  const ENTRIES = ["settled", "voided", "rolled_back", "bets_voided", "bets_restored"];
  const DAY = "{YYYY}-{MM}-{DD}";
  // Labels of the time axis, by its step in seconds; what stands below where another day begins.
  const LABELS = [
    [86400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", `\n${DAY}`, null, `\n${DAY}`, null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", null, null, null, null, null, null, 1],
    [0.001, "{HH}:{mm}:{ss}.{fff}", null, null, null, null, null, null, 1],
  ];
  let since = "";
  let points = [];
  let facts = new Map();
  let rounds = []; // [number, begin, end or null, team, side], as they were played
  let spans = []; // [begin, end or null, reason, whether play explains it]
  let reference = null;
  let ahead = 0; // how far the service's clock is ahead of the browser's, in milliseconds
  let odds = false;
  let plot = null;
  let asked = 0;
  let timer = 0;
  let busy = false;

  const now = () => Date.now() + ahead;
  const percent = (chance) => `${(chance * 100).toFixed(1)} %`;
  const two = (number) => String(number).padStart(2, "0");
  const clock = (at) => {
    const date = new Date(at);
    return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  };

  function merge(chart) {
    if (chart.whole) {
      points = [];
      facts = new Map();
    }
    for (const [at, chance, price, reason, explained] of chart.points) {
      points.push({ at, chance, price, reason, explained });
    }
    points = points.slice(-MOST);
    for (const [id, at, kind, what, map, round, team, side] of chart.facts) {
      // A round that begins again, or does not count any more, takes its facts with it.
      if (kind === "begin" || kind === "void") {
        for (const [key, other] of facts) {
          const gone = kind === "void" ? other.round === round : other.round >= round;
          if (other.round && other.map === map && gone) facts.delete(key);
        }
      }
      if (kind !== "void") facts.set(id, { at, kind, what, map, round, team, side });
    }
    for (const fact of facts.values()) if (fact.kind === "bomb_exploded" && !fact.team) Object.assign(fact, plantedBy(fact));
    ({ since, reference } = chart);
    ahead = chart.now - Date.now();
    rounds = roundsOf();
    spans = spansOf();
    if (place.getAttribute("aria-label") !== chart.label) {
      place.setAttribute("aria-label", chart.label);
      document.getElementById("chart-label").textContent = chart.label;
    }
    document.getElementById("chart-cut").hidden = chart.complete || !chart.whole;
    document.getElementById("chart-reference").hidden = reference === null;
  }

  // The log names nobody when the bomb explodes: it is of those who planted it.
  function plantedBy({ map, round }) {
    const planted = [...facts.values()].find((fact) => fact.kind === "bomb_planted" && fact.map === map && fact.round === round);
    return planted ? { team: planted.team, side: planted.side } : {};
  }

  function roundsOf() {
    const found = new Map();
    const of = (fact) => {
      const key = `${fact.map}:${fact.round}`;
      if (!found.has(key)) found.set(key, { number: fact.round, map: fact.map, begin: null, end: null });
      return found.get(key);
    };
    for (const fact of facts.values()) {
      if (fact.kind === "begin") of(fact).begin = fact.at;
      else if (fact.kind === "round") Object.assign(of(fact), { end: fact.at, team: fact.team, side: fact.side });
    }
    return [...found.values()].sort((one, other) => (one.begin ?? one.end) - (other.begin ?? other.end));
  }

  function spansOf() {
    const found = [];
    for (const point of points) {
      const last = found.length ? found[found.length - 1] : null;
      const goesOn = last && last.end === null;
      if (goesOn && point.reason === last.reason) continue;
      if (goesOn) last.end = point.at;
      if (point.reason) found.push({ begin: point.at, end: null, reason: point.reason, explained: point.explained });
    }
    return found;
  }

  const shown = (chance) => (chance === null ? null : odds ? (chance > 0 ? 1 / chance : null) : chance);
  const onSale = (price) => (price === null ? null : odds ? price : 1 / price);

  function columns() {
    const all = points.map((each) => each);
    const last = all[all.length - 1];
    const latest = Math.max(...[...facts.values()].map((fact) => fact.at), 0);
    // So that steps have an end: now while the market is open, else the last thing that happened.
    const end = Math.max(last.chance === null ? 0 : now(), latest);
    if (end > last.at) all.push({ ...last, at: end });
    return [
      all.map((each) => each.at / 1000),
      all.map((each) => shown(each.chance)),
      all.map((each) => onSale(each.price)),
      all.map(() => (reference === null ? null : shown(reference))),
    ];
  }

  function range(own) {
    const lanes = (2 * LANE) / Math.max(own.bbox ? own.bbox.height / devicePixelRatio : 180, 60);
    if (!odds) return [-lanes / 2 / (1 - lanes), 1 + lanes / 2 / (1 - lanes)];
    const [xs, ...lines] = own.data;
    const { min, max } = own.scales.x;
    const values = lines.flatMap((line) => line.filter((value, at) => value !== null && xs[at] >= min && xs[at] <= max));
    const low = values.length ? Math.min(...values) : 1;
    const high = values.length ? Math.max(...values) : 2;
    const room = Math.max((high - low) * (lanes + 0.1), 0.05);
    return [low - room, high + room];
  }

  function drawing(own) {
    const { ctx, bbox } = own;
    const ratio = devicePixelRatio;
    const right = bbox.left + bbox.width;
    const bottom = bbox.top + bbox.height;
    return {
      ctx, bbox, ratio, right, bottom,
      x: (at) => own.valToPos(at / 1000, "x", true),
      inside: (x) => x >= bbox.left - 1 && x <= right + 1,
    };
  }

  function shade(own) {
    const { ctx, bbox, ratio, right, x } = drawing(own);
    const explained = plotColour("chip");
    const ground = plotColour("bad-ground");
    const line = plotColour("bad");
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const span of spans) {
      const from = Math.max(x(span.begin), bbox.left);
      const to = Math.min(span.end === null ? right : x(span.end), right);
      if (to < bbox.left || from > right) continue;
      const width = Math.max(to - from, ratio);
      ctx.fillStyle = span.explained ? explained : ground;
      ctx.fillRect(from, bbox.top, width, bbox.height);
      if (!span.explained) hatch(ctx, from, width, bbox, line, ratio);
    }
    ctx.restore();
  }

  // Somebody must look at these: they differ from the others by more than their colour.
  function hatch(ctx, from, width, bbox, colour, ratio) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(from, bbox.top, width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = colour;
    ctx.globalAlpha = 0.5;
    ctx.lineWidth = ratio;
    ctx.beginPath();
    for (let at = from - bbox.height; at < from + width; at += 10 * ratio) {
      ctx.moveTo(at, bbox.top + bbox.height);
      ctx.lineTo(at + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }

  function marks(own) {
    const { ctx, bbox, ratio, right, bottom, x, inside } = drawing(own);
    const colours = { CT: plotColour("ct"), T: plotColour("t"), none: plotColour("soft") };
    const ink = plotColour("ink");
    const soft = plotColour("soft");
    const line = plotColour("line");
    const size = 4 * ratio;
    const lane = { home: bbox.top + (LANE / 2) * ratio, away: bottom - (LANE / 2) * ratio };
    ctx.save();
    ctx.fillStyle = line;
    for (const y of [bbox.top + LANE * ratio, bottom - LANE * ratio]) ctx.fillRect(bbox.left, y, bbox.width, ratio);
    ctx.font = `${11 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "bottom";
    let written = -Infinity;
    for (const [index, round] of rounds.entries()) {
      const before = rounds[index - 1];
      const begin = before && before.end !== null ? before.end : round.begin ?? round.end;
      const from = Math.max(x(begin), bbox.left);
      const to = Math.min(round.end === null ? right : x(round.end), right);
      if (to <= bbox.left || from >= right) continue;
      if (round.end !== null && inside(x(round.end))) {
        ctx.fillStyle = line;
        ctx.fillRect(x(round.end), bbox.top - 4 * ratio, ratio, bbox.height + 4 * ratio);
      }
      const colour = colours[round.side] || soft;
      if (round.team) {
        ctx.fillStyle = colour;
        const y = round.team === "home" ? bbox.top : bottom - 3 * ratio;
        ctx.fillRect(from + 2 * ratio, y, Math.max(to - from - 3 * ratio, ratio), 3 * ratio);
      }
      const middle = (from + to) / 2;
      if (middle - written >= 18 * ratio) {
        ctx.fillStyle = soft;
        ctx.fillText(String(round.number), middle, bbox.top - 3 * ratio);
        written = middle;
      }
    }
    for (const fact of facts.values()) {
      const at = x(fact.at);
      if (!inside(at)) continue;
      const colour = colours[fact.side] || colours.none;
      const y = fact.team === "home" ? lane.home : lane.away;
      ctx.fillStyle = ctx.strokeStyle = colour;
      ctx.lineWidth = 2 * ratio;
      if (fact.kind === "kill") triangle(ctx, at, y, size, fact.team === "home" ? -1 : 1);
      else if (fact.kind === "bomb_planted") square(ctx, at, y, size * 1.2);
      else if (fact.kind === "bomb_defused") ring(ctx, at, y, size);
      else if (fact.kind === "bomb_exploded") cross(ctx, at, y, size);
      else if (fact.kind === "command" || ENTRIES.includes(fact.kind)) {
        ctx.fillStyle = ink;
        const wide = fact.kind === "command" ? 1 : 2;
        ctx.fillRect(at - (wide * ratio) / 2, bbox.top, wide * ratio, bbox.height);
        if (fact.kind === "command") ctx.fillRect(at - 3 * ratio, (bbox.top + bottom) / 2 - 3 * ratio, 6 * ratio, 6 * ratio);
      }
    }
    ctx.restore();
  }

  function triangle(ctx, x, y, size, way) {
    ctx.beginPath();
    ctx.moveTo(x, y + way * size);
    ctx.lineTo(x - size, y - way * size);
    ctx.lineTo(x + size, y - way * size);
    ctx.fill();
  }

  function square(ctx, x, y, size) {
    ctx.beginPath();
    ctx.moveTo(x, y - size);
    ctx.lineTo(x + size, y);
    ctx.lineTo(x, y + size);
    ctx.lineTo(x - size, y);
    ctx.fill();
  }

  function ring(ctx, x, y, size) {
    ctx.beginPath();
    ctx.arc(x, y, size, 0, 2 * Math.PI);
    ctx.stroke();
  }

  function cross(ctx, x, y, size) {
    ctx.beginPath();
    ctx.moveTo(x - size, y - size);
    ctx.lineTo(x + size, y + size);
    ctx.moveTo(x + size, y - size);
    ctx.lineTo(x - size, y + size);
    ctx.stroke();
  }

  // The last point at that time, by halving: there are thousands of them.
  function pointAt(at) {
    let low = 0;
    let high = points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle].at <= at) low = middle + 1;
      else high = middle;
    }
    return points[low - 1];
  }

  function describe(at, pixels) {
    const point = pointAt(at);
    const near = Math.max(1000, pixels);
    const round = rounds.findLast((each) => (each.begin ?? each.end) <= at);
    const parts = [clock(at)];
    if (round) parts.push(`${text.round} ${round.number}`);
    if (point && point.chance !== null) parts.push(`${text.ours} ${percent(point.chance)} (${(1 / point.chance).toFixed(3)})`);
    if (point && point.price !== null) parts.push(`${text.sale} ${point.price} (${percent(1 / point.price)})`);
    if (reference !== null) parts.push(`${text.reference} ${percent(reference)}`);
    figures.textContent = parts.join(" · ");
    const found = [...facts.values()]
      .filter((fact) => fact.what && Math.abs(fact.at - at) <= near)
      .sort((one, other) => Math.abs(one.at - at) - Math.abs(other.at - at))
      .slice(0, 3)
      .map((fact) => fact.what);
    if (point && point.reason) found.unshift(`${text.suspended}: ${point.reason}`);
    happened.textContent = found.join(" · ") || "\u00a0";
  }

  function describeCursor() {
    const { left } = plot.cursor;
    if (left === null || left === undefined || left < 0) describe(now(), 0);
    else describe(plot.posToVal(left, "x") * 1000, (plot.posToVal(left + 4, "x") - plot.posToVal(left, "x")) * 1000);
  }

  function make() {
    const line = () => plotColour("line");
    const axis = { stroke: () => plotColour("soft"), grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
    const steps = { paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, spanGaps: false };
    plot = new uPlot({
      width: Math.max(place.clientWidth, 240),
      height: HEIGHT,
      padding: [TOP, 8, 0, 0],
      legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      cursor: { y: false, points: { size: 6 } },
      scales: { x: { time: true }, y: { range } },
      axes: [
        { ...axis, grid: { show: false }, values: LABELS },
        {
          ...axis,
          size: 52,
          splits: (own, index, min, max, step) => (odds ? ticks(min, max, step) : CHANCES),
          values: (own, values) => values.map((value) => (odds ? value.toFixed(2) : `${Math.round(value * 100)} %`)),
        },
      ],
      series: [
        {},
        { ...steps, stroke: () => plotColour("brand"), width: 2.5 },
        { ...steps, stroke: () => plotColour("ink"), width: 1 },
        { ...steps, stroke: () => plotColour("soft"), width: 1.5, dash: [8, 5] },
      ],
      hooks: { drawClear: [shade], draw: [marks], setCursor: [describeCursor] },
    }, columns(), place);
    new ResizeObserver(() => plot.setSize({ width: Math.max(place.clientWidth, 240), height: HEIGHT })).observe(place);
    describeCursor();
  }

  function ticks(min, max, step) {
    const found = [];
    for (let value = Math.ceil(min / step) * step; value <= max; value += step) found.push(Number(value.toFixed(6)));
    return found;
  }

  function show() {
    if (!points.length) {
      figures.textContent = text.empty;
      return;
    }
    if (plot === null) return make();
    const xs = plot.data[0];
    const zoomed = plot.scales.x.min > xs[0] || plot.scales.x.max < xs[xs.length - 1];
    plot.setData(columns(), !zoomed);
    if (zoomed) plot.redraw(false);
    describeCursor();
  }

  async function load() {
    if (busy) return;
    busy = true;
    asked = performance.now();
    try {
      const response = await fetch(`${text.source}?since=${encodeURIComponent(since)}`, { headers: { Accept: "application/json" } });
      if (!response.ok) throw new Error(String(response.status));
      const chart = await response.json();
      const before = since;
      merge(chart);
      if (before === "" || chart.whole || chart.points.length || chart.facts.length) show();
    } catch {
      happened.textContent = text.failed;
    } finally {
      busy = false;
    }
  }

  // At most once in PAUSE, and not while nobody looks.
  function refresh() {
    if (document.hidden || timer) return;
    timer = setTimeout(() => { timer = 0; load(); }, Math.max(0, PAUSE - (performance.now() - asked)));
  }

  // To the fact before or after the one that is shown.
  function step(way) {
    const from = plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") * 1000 : now();
    const times = [...facts.values()].filter((fact) => fact.what).map((fact) => fact.at).sort((one, other) => one - other);
    const edge = (plot.posToVal(1, "x") - plot.posToVal(0, "x")) * 1000; // a pixel: the cursor stands no finer
    const next = way > 0 ? times.find((at) => at > from + edge) : times.findLast((at) => at < from - edge);
    if (next !== undefined) plot.setCursor({ left: plot.valToPos(next / 1000, "x"), top: 0 });
  }

  place.addEventListener("keydown", (event) => {
    if (!plot || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      event.preventDefault();
      step(event.key === "ArrowRight" ? 1 : -1);
    } else if (event.key === "Escape") plot.setCursor({ left: -10, top: -10 });
  });
  for (const button of document.querySelectorAll("[data-chart-unit]")) {
    button.addEventListener("click", () => {
      odds = button.dataset.chartUnit === "odds";
      for (const each of document.querySelectorAll("[data-chart-unit]")) each.setAttribute("aria-pressed", String(each === button));
      if (plot) show();
    });
  }
  document.addEventListener("moved", (event) => { if (event.detail === "state") refresh(); });
  document.addEventListener("visibilitychange", refresh);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (plot) plot.redraw(false); });
  new MutationObserver(() => { if (plot) plot.redraw(false); }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  if (text.seconds) setInterval(refresh, Number(text.seconds) * 1000);
  load();
})();
