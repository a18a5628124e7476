// Runs in the page of journal.js. Everything shown is written as text.
(() => {
  "use strict";
  // @ts-ignore: given by VS Code
  const host = acquireVsCodeApi();
  const byId = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
  const [extension, verdict, kind, search] = ["extension", "verdict", "kind", "text"].map(byId);
  const [body, note, state, detail] = ["rows", "note", "state", "detail"].map(byId);
  /** More rows than that are no reading matter. */
  const MAX_SHOWN = 400;
  const VERDICTS = { deny: "refused", allow: "allowed", passed: "let pass" };

  /** @type {Map<string, any>} oldest first */
  const rows = new Map();
  let limit = 2000;
  let selected = "";
  let ended = "";
  let frame = 0;
  document.body.classList.add("journal");

  const remembered = host.getState() ?? {};
  /** Options of each select that stand before the sorted ones. */
  const names = { extension: new Set([""]), kind: new Set(["", "*"]) };

  /** Keeps a select's options sorted, and its choice. */
  function offer(select, known, value, label) {
    if (known.has(value)) return;
    known.add(value);
    const option = document.createElement("option");
    option.value = value;
    option.textContent = label;
    const after = [...select.options].find((other) => other.value !== "" && other.value !== "*" && other.textContent > label);
    select.insertBefore(option, after ?? null);
  }

  function apply(filter) {
    if (filter.extension) offer(extension, names.extension, filter.extension, filter.extension);
    if (filter.kind) offer(kind, names.kind, filter.kind, filter.kind);
    extension.value = filter.extension ?? "";
    verdict.value = filter.verdict ?? "";
    kind.value = filter.kind ?? "";
    search.value = filter.text ?? "";
  }

  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "2-digit" });
  function when(time) {
    const date = new Date(time);
    if (Number.isNaN(date.getTime())) return time;
    const today = date.toDateString() === new Date().toDateString();
    return today ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`;
  }

  function cell(row, text, style) {
    const made = document.createElement("td");
    if (style === "resource") {
      const inner = document.createElement("bdi");
      inner.dir = "ltr";
      inner.textContent = text;
      made.append(inner);
    } else {
      made.textContent = text;
    }
    if (style) made.className = style;
    made.title = text;
    row.append(made);
  }

  function matches(row) {
    const wanted = search.value.toLowerCase();
    return (
      (!extension.value || row.subject === extension.value) &&
      (!verdict.value || row.verdict === verdict.value) &&
      // Variables are withheld by the dozen at each start.
      (kind.value === "*" || (kind.value ? row.kind === kind.value : row.kind !== "environment")) &&
      (!wanted || [row.resource, row.program, row.rule].some((text) => text.toLowerCase().includes(wanted)))
    );
  }

  function showDetail() {
    const row = rows.get(selected);
    detail.hidden = !row;
    if (!row) return;
    const facts = document.createElement("dl");
    const fact = (name, value) => {
      if (value === "" || value === undefined) return;
      const term = document.createElement("dt");
      term.textContent = name;
      const description = document.createElement("dd");
      description.textContent = value;
      facts.append(term, description);
    };
    fact("Resource", row.resource);
    fact("Verdict", VERDICTS[row.verdict] + (row.asked ? ", a person was asked" : ""));
    fact("Rule", row.rule);
    fact("Extension", row.subject);
    fact("Program", row.program + (row.pid ? `, process ${row.pid}` : ""));
    fact("Call", row.detail);
    fact("Times", String(row.count));
    fact("First", new Date(row.time).toLocaleString());
    fact("Workspace", row.workspace);
    fact("Run", row.run);
    detail.replaceChildren(facts);
  }

  function select(key, focus) {
    selected = key;
    for (const line of body.rows) {
      const is = line.dataset.key === key;
      line.setAttribute("aria-selected", String(is));
      line.tabIndex = is ? 0 : -1;
      if (is && focus) {
        line.focus();
        line.scrollIntoView({ block: "nearest" });
      }
    }
    showDetail();
  }

  function draw() {
    frame = 0;
    const focused = body.contains(document.activeElement);
    const found = [...rows.values()].reverse().filter(matches);
    const lines = found.slice(0, MAX_SHOWN).map((row) => {
      const line = document.createElement("tr");
      line.dataset.key = row.key;
      line.tabIndex = -1;
      line.setAttribute("aria-selected", "false");
      cell(line, when(row.time));
      cell(line, row.subject.startsWith("/") ? row.subject.slice(row.subject.lastIndexOf("/") + 1) : row.subject);
      cell(line, VERDICTS[row.verdict], row.verdict);
      cell(line, row.kindName);
      cell(line, row.resource, "resource");
      cell(line, row.count.toLocaleString(), "count");
      cell(line, row.program.slice(row.program.lastIndexOf("/") + 1), "program");
      return line;
    });
    body.replaceChildren(...lines);
    if (lines.length > 0) lines[0].tabIndex = 0;
    if (rows.has(selected)) select(selected, focused);
    else showDetail();
    note.hidden = found.length > 0 && found.length <= MAX_SHOWN;
    note.textContent =
      found.length > MAX_SHOWN
        ? `The newest ${MAX_SHOWN} of ${found.length.toLocaleString()}. Narrow the filters to see others.`
        : rows.size === 0
          ? "Nothing is recorded yet. What extensions do shows here as it happens."
          : "No entry matches these filters.";
    state.textContent = ended ? `Not following: ${ended}` : `${found.length.toLocaleString()} of ${rows.size.toLocaleString()}`;
  }
  const redraw = () => {
    frame ||= requestAnimationFrame(draw);
  };

  body.addEventListener("click", (event) => {
    const line = event.target.closest("tr");
    if (line) select(line.dataset.key, true);
  });
  body.addEventListener("keydown", (event) => {
    const line = event.target.closest("tr");
    const to = { ArrowDown: line?.nextElementSibling, ArrowUp: line?.previousElementSibling,
      Home: body.firstElementChild, End: body.lastElementChild, Enter: line, " ": line }[event.key];
    if (event.key === "Escape") select("", false);
    else if (!to) return;
    else select(to.dataset.key, true);
    event.preventDefault();
  });
  document.querySelector("form")?.addEventListener("submit", (event) => event.preventDefault());
  for (const control of [extension, verdict, kind, search])
    control.addEventListener("input", () => {
      host.setState({ extension: extension.value, verdict: verdict.value, kind: kind.value, text: search.value });
      redraw();
    });

  window.addEventListener("message", (event) => {
    if (event.origin !== window.origin) return;  // every webview of the window can speak to this one
    const message = event.data;
    if (message?.type === "start") {
      rows.clear();
      ended = "";
      limit = message.limit;
      apply(message.filter ?? remembered);
    } else if (message?.type === "filter") {
      apply(message.filter);
    } else if (message?.type === "rows") {
      for (const row of message.rows) {
        rows.delete(row.key);  // and in again, as the newest
        rows.set(row.key, row);
        offer(extension, names.extension, row.subject, row.subject);
        offer(kind, names.kind, row.kind, row.kindName);
      }
      for (const key of rows.keys()) {
        if (rows.size <= limit) break;
        rows.delete(key);
      }
    } else if (message?.type === "end") {
      ended = message.reason;
    } else {
      return;
    }
    redraw();
  });
  redraw();
  host.postMessage({ type: "ready" });
})();
