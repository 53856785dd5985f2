// Live: a socket that says "look again", one GET that looks, and a pill that says how old the data is.
// The socket never says what is true; without it the page asks by itself every 30 seconds.
(() => {
  "use strict";
  const pill = document.getElementById("live");
  if (!pill) return;
  const words = document.getElementById("words").dataset;
  const root = document.documentElement;
  const region = () => document.querySelector("[data-live]");
  const ids = (selector, key) => [...document.querySelectorAll(selector)].map((element) => element.dataset[key]);
  const shown = () => ids("[data-job]", "job").slice(0, 200);
  // Milliseconds. The pill is looked at each second: it says so within 3 s, and asks by itself within 15 s.
  const wait = { collect: 250, reconnecting: 2000, polling: 14_000, totals: 800, poll: 30_000, slowPoll: 60_000, silent: 25_000, worked: 4000 };

  let socket, retries = 0, lostAt = 0, heardAt = 0, etag = "", polls = 0;
  let paused = localStorage.getItem("paused") === "1", closed = false;
  let nudged = new Set(), timer = 0, plannedAt = 0, pulledAt = 0, pollTimer = 0;

  // -- the pill -------------------------------------------------------------------------------------------
  function state() {
    if (closed) return "closed";
    if (paused) return "paused";
    if (root.dataset.offline) return "offline";
    if (!lostAt) return socket?.readyState === WebSocket.OPEN ? "live" : "first";
    const lost = Date.now() - lostAt;
    return lost > wait.polling ? "polling" : lost > wait.reconnecting ? "reconnecting" : pill.dataset.state;
  }
  function show() {
    const now = state();
    if (now === pill.dataset.state) return;
    pill.dataset.state = now;
    document.getElementById("live-says").textContent = words[now];
    document.querySelectorAll('[data-do="pause"]').forEach((button) => button.setAttribute("aria-pressed", paused));
    if (now === "polling") poll();
  }
  function dataOf(iso) {
    const time = document.getElementById("data-at");
    if (Date.parse(iso) <= Date.parse(time.dateTime)) return;
    const next = time.cloneNode();
    next.dateTime = iso;
    next.textContent = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: root.dataset.zone }).format(new Date(iso));
    time.replaceWith(next);
    next.dispatchEvent(new CustomEvent("cb:painted", { bubbles: true }));
  }
  function offline(yes) {
    if (yes) root.dataset.offline = "1";
    else delete root.dataset.offline;
    document.getElementById("offline").hidden = !yes;
    show();
  }

  // -- looking --------------------------------------------------------------------------------------------
  /** Somebody says that this job changed. The first is asked for at once, further ones together. */
  function nudge(job) {
    nudged.add(job);
    plan(Date.now() - pulledAt > wait.collect ? 0 : wait.collect);
  }
  /** At the earlier of two plans; that only totals changed can wait. */
  function plan(delay) {
    const at = Date.now() + delay;
    if (paused || (timer && plannedAt <= at)) return;
    clearTimeout(timer);
    plannedAt = at;
    timer = setTimeout(() => pull([...nudged]), delay);
  }
  /** Asks for the rows of these jobs as they are now, and has them put in their places. */
  async function pull(jobs) {
    timer = 0;
    nudged = new Set();
    pulledAt = Date.now();
    if (!region()) return;
    const address = new URL(region().dataset.live, location.href);
    address.searchParams.set("jobs", jobs.join(","));
    if (document.getElementById("held")) address.searchParams.set("shown", shown().slice(0, 50).join(","));
    const last = document.querySelector("#timeline > li:last-child")?.id.slice(3);
    if (last) address.searchParams.set("after", last);
    const headers = { "HX-Request": "true", "X-Live": "1", ...(etag && { "If-None-Match": etag }) };
    let answer;
    try {
      answer = await fetch(address, { headers, signal: AbortSignal.timeout(10_000) });
    } catch {
      return lostAt ? offline(true) : stale();
    }
    offline(false);
    if (answer.redirected || answer.status === 401 || answer.status === 403) return shut();
    if (answer.status === 304) return;
    if (!answer.ok) return stale();
    etag = answer.headers.get("ETag") ?? "";
    window.cbApply(await answer.text());
    fresh(jobs);
  }
  function fresh(jobs) {
    document.getElementById("stale")?.replaceChildren();
    for (const job of jobs) changed(job, seqOf(job));
  }
  const seqOf = (job) => Number(document.querySelector(`[data-job="${CSS.escape(job)}"]`)?.dataset.seq);
  const changed = (job, seq) => document.dispatchEvent(new CustomEvent("cb:changed", { detail: { job, seq } }));
  function stale() {
    const place = document.getElementById("stale");
    if (!place) return;
    const line = Object.assign(document.createElement("div"), { className: "notice pending" });
    line.textContent = words.failed.replace("%t", new Date().toLocaleTimeString("en-GB"));
    place.replaceChildren(line);
  }
  const pullAll = () => pull(shown());
  // What is worked off job by job: a refused one leaves no receipt to hear of.
  setInterval(() => { if (region()?.matches("[data-poll]") && !paused && !closed && !lostAt && !document.hidden) pullAll(); }, wait.worked);
  function poll() {
    clearTimeout(pollTimer);
    if (!lostAt || paused || closed) return;
    if (!document.hidden) pullAll();
    pollTimer = setTimeout(poll, ++polls > 10 ? wait.slowPoll : wait.poll);
  }

  // -- the socket -----------------------------------------------------------------------------------------
  function watch() {
    if (socket?.readyState !== WebSocket.OPEN) return;
    const jobs = document.hidden || paused ? [] : [...new Set([...ids("[data-watches]", "watches"), ...shown()])];
    socket.send(JSON.stringify({ jobs: jobs.slice(0, 200) }));
  }
  function heard(message) {
    heardAt = Date.now();
    if (message.at) dataOf(message.at);
    if (message.counts) plan(wait.totals);
    if (!message.job) return;
    changed(message.job, message.seq);
    if (message.beside || message.seq > seqOf(message.job)) nudge(message.job);
  }
  function connect() {
    if (closed) return;
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/board/`);
    socket.onopen = () => {
      const back = lostAt > 0;
      retries = lostAt = polls = 0;
      offline(false);
      watch();
      if (back && !paused) pullAll();
    };
    socket.onmessage = (event) => heard(JSON.parse(event.data));
    socket.onclose = (event) => {
      lostAt ||= Date.now();
      if (event.code === 4403) return shut();
      setTimeout(connect, Math.min(30_000, 500 * 2 ** retries++) * (0.7 + 0.6 * Math.random()));
      show();
    };
  }
  function shut() {
    closed = true;
    socket?.close();
    show();
  }
  // A sleeping laptop leaves a socket that only looks open.
  setInterval(() => {
    if (heardAt && Date.now() - heardAt > wait.silent && socket.readyState === WebSocket.OPEN) socket.close();
    show();
  }, 1000);

  // -- people ---------------------------------------------------------------------------------------------
  document.addEventListener("click", (event) => {
    if (!event.target.closest('[data-do="pause"]')) return;
    paused = !paused;
    localStorage.setItem("paused", paused ? "1" : "");
    watch();
    show();
    if (!paused) pullAll();
  });
  document.addEventListener("visibilitychange", () => {
    watch();
    if (!document.hidden && !paused && region()) pullAll();
  });
  document.addEventListener("htmx:afterSwap", watch); // other rows, other jobs
  addEventListener("offline", () => offline(true));
  addEventListener("online", () => offline(false));
  connect();
})();
