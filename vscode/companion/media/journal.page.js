// Runs in the page of journal.js. Everything shown is written as text.
(() => {
  "use strict";
  // @ts-ignore: given by VS Code
  const host = acquireVsCodeApi();
  const byId = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
  const [extension, verdict, kind, search] = ["extension", "verdict", "kind", "text"].map(byId);
  const [body, note, state, detail, all] = ["rows", "note", "state", "detail", "all"].map(byId);
  /** More rows than that are no reading matter. */
  const MAX_SHOWN = 400;
  /** So many names in a folder are one row. */
  const FOLD = 4;
  const VERDICTS = { deny: "refused", allow: "allowed", yours: "you allowed", own: "own home", passed: "let pass" };

  /** @type {Map<string, any>} oldest first */
  const rows = new Map();
  let limit = 2000;
  let selected = "";
  /** What the lines show, by their keys. @type {Map<string, any>} */
  let shown = new Map();
  /** Folders that a person has opened. */
  const open = new Set();
  let ended = "";
  let frame = 0;
  document.body.classList.add("journal");

  all.checked = host.getState()?.all === true;
  /** Options of each select that stand before the sorted ones. */
  const names = { extension: new Set([""]), kind: new Set([""]) };

  /** Keeps a select's options sorted, and its choice. */
  function offer(select, known, value, label) {
    if (known.has(value)) return;
    known.add(value);
    const option = document.createElement("option");
    option.value = value;
    option.textContent = label;
    const after = [...select.options].find((other) => other.value !== "" && other.textContent > label);
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

  const upperFirst = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  function cell(row, text, style) {
    const made = document.createElement("td");
    made.textContent = text;
    made.className = style;
    made.title = text;
    row.append(made);
    return made;
  }

  /** Cut in its folder, not in its name. */
  function resourceCell(line, row) {
    const made = cell(line, "", "resource");
    const at = row.isPath ? row.short.replace(/\/$/, "").lastIndexOf("/") + 1 : 0;
    const part = (text, style) => {
      const span = document.createElement("span");
      span.className = style;
      span.textContent = text;
      return span;
    };
    const box = part("", "parts");
    if (row.members) box.append(part(open.has(row.key) ? "▾" : "▸", "twist"));
    box.append(part(row.short.slice(0, at), "folder"), part(row.short.slice(at), "name"));
    if (row.call) box.append(part(row.call, "call"));
    if (row.members) box.append(part(`${row.members.length} entries`, "members"));
    made.append(box);
    made.title = row.call ? `${row.resource} ${row.call}` : row.resource;
  }

  function matches(row) {
    const wanted = search.value.toLowerCase();
    return (
      (!extension.value || row.subject === extension.value) &&
      (!verdict.value || row.verdict === verdict.value || (verdict.value === "allow" && row.verdict === "yours")) &&
      (!kind.value || row.kind === kind.value) &&
      (!wanted || [row.resource, row.call, row.program, row.rule].some((text) => text.toLowerCase().includes(wanted)))
    );
  }

  function showDetail() {
    const row = shown.get(selected);
    detail.hidden = !row || row.members !== undefined;
    if (detail.hidden) return;
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
    fact("Verdict", VERDICTS[row.verdict] + (row.asked && row.verdict !== "yours" ? ", a person was asked" : ""));
    fact("Rule", row.rule);
    fact("Extension", row.subject);
    fact("Program", row.programs.length > 1 ? row.programs.join(", ") : row.program + (row.pid ? `, process ${row.pid}` : ""));
    fact("Call", row.detail);
    fact("Times", String(row.count));
    fact("Last", new Date(row.time).toLocaleString());
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
      if (is && focus) line.focus({ preventScroll: true });
    }
    showDetail();
    // The details have taken some of the room by now.
    if (focus) body.querySelector('tr[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  /**
   * What repeats in one row: the same by another program or in a later run, and many names of one folder. What another rule
   * decided, or a person, is nothing that repeats.
   * @param {any[]} found newest first
   */
  function fold(found) {
    const same = new Map();
    for (const row of found) {
      const key = JSON.stringify([row.subject, row.verdict, row.asked, row.rule, row.kind, row.resource, row.call]);
      const one = same.get(key);
      if (!one) same.set(key, { ...row, key, programs: [row.program] });
      else {
        one.count += row.count;
        if (!one.programs.includes(row.program)) one.programs.push(row.program);
      }
    }
    const folders = new Map();
    const placed = [...same.values()].map((row) => {
      const at = row.isPath ? row.resource.lastIndexOf("/") + 1 : 0;
      const key = at > 1 ? JSON.stringify(["folder", row.subject, row.verdict, row.asked, row.rule, row.kind, row.resource.slice(0, at)]) : row.key;
      const members = folders.get(key) ?? [];
      folders.set(key, members);
      members.push(row);
      return { row, key, members };
    });
    return placed.flatMap(({ row, key, members }) => {
      if (members.length < FOLD) return [row];
      if (row !== members[0]) return [];
      const programs = [...new Set(members.flatMap((one) => one.programs))];
      const folder = {
        ...row, key, members, programs, program: programs.length === 1 ? programs[0] : "",
        resource: row.resource.slice(0, row.resource.lastIndexOf("/") + 1), short: row.short.slice(0, row.short.lastIndexOf("/") + 1), count: members.reduce((sum, one) => sum + one.count, 0),
      };
      return open.has(key) ? [folder, ...members.map((one) => ({ ...one, level: 2 }))] : [folder];
    });
  }

  function toggle(key) {
    if (!open.delete(key)) open.add(key);
    redraw();
  }

  function draw() {
    frame = 0;
    const focused = body.contains(document.activeElement);
    // As many as come at once come in another order than they happened.
    const found = [...rows.values()].filter(matches).sort((a, b) => b.at - a.at);
    const folded = fold(found);
    shown = new Map(folded.map((row) => [row.key, row]));
    const lines = folded.slice(0, MAX_SHOWN).map((row) => {
      const line = document.createElement("tr");
      line.dataset.key = row.key;
      line.tabIndex = -1;
      line.setAttribute("aria-selected", "false");
      line.setAttribute("aria-level", String(row.level ?? 1));
      if (row.members) line.setAttribute("aria-expanded", String(open.has(row.key)));
      resourceCell(line, row);
      cell(line, VERDICTS[row.verdict], `verdict ${row.verdict}`);
      cell(line, row.kindName, "kind");
      cell(line, row.subject.startsWith("/") ? row.subject.slice(row.subject.lastIndexOf("/") + 1) : row.subject, "extension");
      cell(line, row.count.toLocaleString(), "count");
      cell(line, row.programs.map((one) => one.slice(one.lastIndexOf("/") + 1)).join(", "), "program");
      cell(line, when(row.time), "time");
      return line;
    });
    body.replaceChildren(...lines);
    if (lines.length > 0) lines[0].tabIndex = 0;
    if (shown.has(selected)) select(selected, focused);
    else showDetail();
    note.hidden = folded.length > 0 && folded.length <= MAX_SHOWN;
    note.textContent =
      folded.length > MAX_SHOWN
        ? `The newest ${MAX_SHOWN} of ${folded.length.toLocaleString()}. Narrow the filters to see others.`
        : rows.size === 0
          ? "Nothing is recorded yet. What extensions do shows here as it happens."
          : "No entry matches these filters.";
    // Who does much afterwards does not hide in silence what came before.
    const all = rows.size >= limit ? `the newest ${rows.size.toLocaleString()} entries; \`bulkhead log\` has those before` : `${rows.size.toLocaleString()} entries`;
    state.textContent = ended ? `Not following: ${ended}` : found.length === rows.size ? upperFirst(all) : `${found.length.toLocaleString()} of ${all}`;
  }
  const redraw = () => {
    frame ||= requestAnimationFrame(draw);
  };

  body.addEventListener("click", (event) => {
    const line = event.target.closest("tr");
    if (!line) return;
    select(line.dataset.key, true);
    if (shown.get(line.dataset.key)?.members) toggle(line.dataset.key);
  });
  body.addEventListener("keydown", (event) => {
    const line = event.target.closest("tr");
    const folder = shown.get(line?.dataset.key)?.members !== undefined;
    const isOpen = open.has(line?.dataset.key);
    const turns = { Enter: true, " ": true, ArrowRight: !isOpen, ArrowLeft: isOpen };
    if (folder && turns[event.key]) {
      select(line.dataset.key, true);
      toggle(line.dataset.key);
      event.preventDefault();
      return;
    }
    const to = { ArrowDown: line?.nextElementSibling, ArrowUp: line?.previousElementSibling,
      Home: body.firstElementChild, End: body.lastElementChild, Enter: line, " ": line }[event.key];
    if (event.key === "Escape") select("", false);
    else if (!to) return;
    else select(to.dataset.key, true);
    event.preventDefault();
  });
  document.querySelector("form")?.addEventListener("submit", (event) => event.preventDefault());
  const keep = () => host.setState({ extension: extension.value, verdict: verdict.value, kind: kind.value, text: search.value, all: all.checked });
  for (const control of [extension, verdict, kind, search])
    control.addEventListener("input", () => {
      keep();
      redraw();
    });

  all.addEventListener("change", () => {
    keep();
    host.postMessage({ type: "ready", all: all.checked });
  });

  window.addEventListener("message", (event) => {
    if (event.origin !== window.origin) return;  // every webview of the window can speak to this one
    const message = event.data;
    if (message?.type === "start") {
      rows.clear();
      ended = "";
      limit = message.limit;
      apply(message.filter ?? host.getState() ?? {});
    } else if (message?.type === "filter") {
      apply(message.filter);
    } else if (message?.type === "rows") {
      for (const row of message.rows) {
        rows.delete(row.key);  // and in again, as the newest
        rows.set(row.key, { ...row, at: Date.parse(row.time) });
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
  host.postMessage({ type: "ready", all: all.checked });
})();
