"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const [low, high] = data.band;
const DASHES = [[], [9, 4], [9, 3, 3, 3], [3, 3]];
const element = (id) => document.getElementById(id);
const slider = element("threshold");
const chooser = element("scorer");
const prevalenceInput = element("prevalence");
const prevalenceNote = element("prevalence-note");
const usualNote = prevalenceNote.textContent;
const shown = { scorer: 0, stop: 0 };
let charts = [];

// Numbers as text.

const percent = (value) => `${Number((100 * value).toPrecision(6))}%`;
const figure = (value) => (value === null ? "no alerts" : value === 0 ? "0%" : `${(100 * value).toPrecision(3)}%`);
const amount = (value) => value.toFixed(1);
const score = (value) => String(Number(value.toPrecision(4)));

// Operating points.

/** The prevalence of the reader's, or null where the field is empty or makes no sense. */
function typedPrevalence() {
  const value = prevalenceInput.value === "" ? NaN : Number(prevalenceInput.value) / 100;
  return value > 0 && value < 1 ? value : null;
}

function checkPrevalence() {
  const wrong = typedPrevalence() === null && (prevalenceInput.value !== "" || prevalenceInput.validity.badInput);
  prevalenceInput.setAttribute("aria-invalid", wrong);
  prevalenceNote.textContent = wrong ? "Must be a number between 0 and 100, both excluded." : usualNote;
}

/** Figures at a prevalence of the reader's: [value, low, high] of the PPV and of the alerts per 1,000. */
function atPrevalence(share, fpr, tpr, even) {
  const [lowHit, lowMiss, highHit, highMiss] = even;
  const ppv = (hit, miss) => (share * hit) / (share * hit + (1 - share) * miss);
  const alerts = share * tpr[0] + (1 - share) * fpr[0];
  const reach = (end) => Math.hypot(share * (tpr[end] - tpr[0]), (1 - share) * (fpr[end] - fpr[0]));
  return {
    ppv: [alerts > 0 ? (share * tpr[0]) / alerts : null, ppv(lowHit, lowMiss), ppv(highHit, highMiss)],
    alerts: [alerts, alerts - reach(1), alerts + reach(2)].map((value) => 1000 * value),
  };
}

function currentPoint() {
  const { points } = data.scorers[shown.scorer];
  const at = (name) => points[name][shown.stop];
  const point = { threshold: at("threshold"), fpr: at("fpr"), tpr: at("tpr"), ppv: at("ppv"), alerts: at("alerts") };
  const share = typedPrevalence();
  return share === null ? point : { ...point, ...atPrevalence(share, point.fpr, point.tpr, at("even")) };
}

function tell(point) {
  const texts = { fpr: figure, tpr: figure, ppv: figure, alerts: amount };
  for (const [name, text] of Object.entries(texts)) {
    const [value, least, most] = point[name];
    element(`value-${name}`).textContent = text(value);
    element(`ends-${name}`).textContent = `${text(least)} to ${text(most)}`;
  }
  element("value-threshold").textContent = point.threshold;
  element("state-prevalence").textContent = percent(Number((typedPrevalence() ?? data.prevalence).toPrecision(3)));
  if (chooser) element("state-scorer").textContent = data.scorers[shown.scorer].name;
  slider.setAttribute("aria-valuetext", `${score(point.threshold)}, false-positive rate ${figure(point.fpr[0])}`);
}

/** Where a reader starts: the last stop that does not leave the band, or the middle of one that reaches to 1. */
function firstStop(points) {
  const limit = high < 1 ? high : (low + high) / 2;
  const beyond = points.fpr.findIndex(([value]) => value > limit);
  return Math.max((beyond < 0 ? points.fpr.length : beyond) - 1, 0);
}

// Charts.

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const pairs = (xs, ys) => xs.map((x, k) => ({ x, y: ys[k] }));

function line(points, options) {
  return { data: points, showLine: true, pointRadius: 0, pointHitRadius: 0, borderWidth: 1.5, tension: 0, ...options };
}

function axis(text, options) {
  return {
    type: "linear",
    title: { display: true, text, color: color("quiet") },
    grid: { color: color("grid") },
    border: { color: color("rule") },
    ...options,
    ticks: { color: color("quiet"), maxRotation: 0, maxTicksLimit: 6, includeBounds: false, ...options.ticks },
  };
}

function chart(id, config, plugins) {
  return new Chart(element(id), {
    type: "scatter",
    ...config,
    options: {
      animation: false,
      maintainAspectRatio: false,
      devicePixelRatio: document.documentElement.hasAttribute("data-printing") ? 3 : undefined,
      ...config.options,
      plugins: { legend: { display: false }, tooltip: { enabled: false }, ...plugins },
    },
  });
}

const TOOLTIP = {
  enabled: true,
  filter: (item) => item.dataset.label !== undefined,
  callbacks: {
    label: ({ dataset, parsed }) => `${dataset.label}: FPR ${figure(parsed.x)}, TPR ${figure(parsed.y)}`,
  },
};

/** The marker with its intervals comes first, since Chart.js draws the first dataset on top. */
function markerSets() {
  const cross = { borderColor: color("mark"), borderWidth: 2 };
  const diamond = { pointStyle: "rectRot", pointRadius: 8, pointBorderWidth: 2, showLine: false, clip: 10 };
  const colors = { pointBackgroundColor: color("mark"), pointBorderColor: color("paper") };
  return [
    line([], { label: "chosen threshold", ...diamond, ...colors }),
    line([], cross),
    line([], cross),
  ];
}

function curveSets(width) {
  return data.scorers.map(({ name, curve }, k) =>
    line(pairs(curve.fpr, curve.tpr), {
      label: name,
      borderColor: color(`line-${k % 7}`),
      borderDash: DASHES[k % DASHES.length],
      borderWidth: width,
      pointHitRadius: 6,
      clip: 2,
    }),
  );
}

function rocChart(id, x, y, width, backdrop) {
  const ticks = { callback: (value) => percent(value) };
  return chart(
    id,
    {
      data: { datasets: [...markerSets(), ...curveSets(width), ...backdrop] },
      options: {
        interaction: { mode: "nearest", axis: "xy", intersect: false },
        scales: {
          x: axis("False-positive rate", { ...x, ticks }),
          y: axis("True-positive rate", { ...y, ticks }),
        },
      },
    },
    { tooltip: TOOLTIP },
  );
}

function wholeChart() {
  const quiet = { borderColor: color("quiet"), borderWidth: 1 };
  const chance = line([{ x: 0, y: 0 }, { x: 1, y: 1 }], { ...quiet, borderDash: [2, 4] });
  const edge = (x) => line([{ x, y: 0 }, { x, y: 1 }], quiet);
  const shade = line([{ x: low, y: 1 }, { x: high, y: 1 }], {
    backgroundColor: color("shade"),
    borderWidth: 0,
    fill: "origin",
  });
  const limits = { min: 0, max: 1 };
  const band = element("band") ? [edge(low), edge(high), shade] : [];
  return rocChart("whole", limits, limits, 2, [chance, ...band]);
}

/** Round limits around the heights of the curves in the band. */
function bandHeights() {
  const heights = data.scorers.flatMap(({ curve, ends }) => [
    ...ends,
    ...curve.tpr.filter((_, k) => curve.fpr[k] >= low && curve.fpr[k] <= high),
  ]);
  const [least, most] = heights.reduce(([min, max], y) => [Math.min(min, y), Math.max(max, y)], [1, 0]);
  const step = most - least > 0.3 ? 0.1 : 0.02;
  const [bottom, top] = [Math.floor(least / step) * step, Math.ceil(most / step) * step];
  return bottom < top ? { min: Math.max(bottom, 0), max: Math.min(top, 1) } : { min: 0, max: 1 };
}

const SHARES = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999];
const logit = (share) => Math.log(share / (1 - share));

/** The axis of the scores; probabilities are spread by their logit. */
function scoreAxis(histogram) {
  const limits = { min: histogram.edges[0], max: histogram.edges.at(-1) };
  const written = (value) => score(histogram.logit ? 1 / (1 + Math.exp(-value)) : value);
  const places = (scale) => (scale.ticks = SHARES.map((share) => ({ value: logit(share) })));
  return axis("Score", {
    ...limits,
    ...(histogram.logit && { afterBuildTicks: places }),
    ticks: { callback: written, maxTicksLimit: 7 },
  });
}

/** Where a score is on that axis; what lies beyond is at its end. */
function scorePlace({ edges, logit: spread }, value) {
  return Math.min(Math.max(spread ? logit(value) : value, edges[0]), edges.at(-1));
}

function scoreChart({ histogram }, k) {
  const steps = (shares) => pairs(histogram.edges, [...shares, shares.at(-1)]);
  const side = (shares, name, dash) =>
    line(steps(shares), {
      stepped: true,
      borderColor: color(name),
      borderWidth: 2,
      borderDash: dash,
      backgroundColor: `${color(name)}2e`,
      fill: "origin",
    });
  return chart(`scores-${k}`, {
    data: {
      datasets: [
        line([], { borderColor: color("mark"), borderWidth: 2 }),
        side(histogram.positives, "line-1", []),
        side(histogram.negatives, "line-0", [6, 4]),
      ],
    },
    options: {
      scales: {
        x: scoreAxis(histogram),
        y: axis("Share of the class", { beginAtZero: true, ticks: { callback: (value) => percent(value) } }),
      },
    },
  });
}

function mark({ fpr, tpr, threshold }) {
  const [x, left, right] = fpr;
  const [y, bottom, top] = tpr;
  const parts = [[{ x, y }], [{ x: left, y }, { x: right, y }], [{ x, y: bottom }, { x, y: top }]];
  for (const roc of charts.rocs) {
    parts.forEach((points, k) => (roc.data.datasets[k].data = points));
    roc.update("none");
  }
  charts.scores.forEach((each, k) => {
    const at = scorePlace(data.scorers[k].histogram, threshold);
    const top = each.scales.y.max;
    each.data.datasets[0].data = k === shown.scorer ? [{ x: at, y: 0 }, { x: at, y: top }] : [];
    each.options.scales.y.max = top;
    each.update("none");
  });
}

function draw() {
  [...(charts.rocs ?? []), ...(charts.scores ?? [])].forEach((each) => each.destroy());
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  const rocs = [wholeChart()];
  if (element("band")) rocs.push(rocChart("band", { min: low, max: high }, bandHeights(), 2.5, []));
  charts = { rocs, scores: data.scorers.map(scoreChart) };
  mark(currentPoint());
}

// What the reader does.

function show() {
  const point = currentPoint();
  tell(point);
  mark(point);
}

function choose(scorer) {
  const before = data.scorers[shown.scorer].points.fpr[shown.stop][0];
  const { points } = data.scorers[scorer];
  const distances = points.fpr.map(([value]) => Math.abs(value - before));
  shown.scorer = scorer;
  shown.stop = distances.indexOf(Math.min(...distances));
  slider.max = points.fpr.length - 1;
  slider.value = shown.stop;
}

slider.addEventListener("input", () => {
  shown.stop = Number(slider.value);
  show();
});
chooser?.addEventListener("change", () => {
  choose(Number(chooser.value));
  show();
});
prevalenceInput.addEventListener("input", () => {
  checkPrevalence();
  show();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
addEventListener("beforeprint", () => {
  document.documentElement.toggleAttribute("data-printing", true);
  draw();
});
addEventListener("afterprint", () => {
  document.documentElement.toggleAttribute("data-printing", false);
  draw();
});

// A browser may restore the controls of an earlier visit.
if (chooser) chooser.value = "0";
prevalenceInput.value = "";
shown.stop = firstStop(data.scorers[0].points);
choose(0);
tell(currentPoint());
draw();
