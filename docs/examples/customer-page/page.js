// Shows what the backend says, as it says it; and says itself how old that is. Open it as /?job=ID.
(async () => {
  "use strict";
  const job = new URLSearchParams(location.search).get("job") ?? "";
  const truth = document.getElementById("truth");
  const state = document.getElementById("state");
  const clock = () => new Date().toLocaleTimeString();
  let after = 0; // the last change that was shown: nothing is shown twice, nothing is missed
  let last = "";
  let wait = 1000;

  async function follow() {
    const silence = new AbortController(); // a line that died without a word: there is a sign of life every 10 s
    let alarm = setTimeout(() => silence.abort(), 30000);
    try {
      const answer = await fetch(`/truth/${encodeURIComponent(job)}?after=${after}`, { signal: silence.signal });
      if (answer.status === 404) { truth.textContent = "There is no such order of yours."; state.textContent = ""; return true; }
      if (!answer.ok) throw new Error(answer.status);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      state.textContent = last ? `Connected. As of ${last}.` : "Connected.";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return false;
        clearTimeout(alarm);
        alarm = setTimeout(() => silence.abort(), 30000);
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          const told = JSON.parse(line);
          last = clock();
          wait = 1000;
          if (told.text) { truth.textContent = told.text; after = told.seq; }
          state.textContent = told.final ? `Final, as of ${last}.` : `Connected. As of ${last}.`;
        }
      }
    } finally { clearTimeout(alarm); }
  }

  for (;;) {
    try { if (await follow()) return; } catch { /* the line, not the order: said below */ }
    state.textContent = last ? `Not connected; trying again. This is as of ${last}.` : "Not connected; trying again.";
    await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
    wait = Math.min(wait * 2, 30000);
  }
})();
