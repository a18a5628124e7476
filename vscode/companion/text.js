// Text that others chose, made fit to be shown. Pure functions; escaped once, here, at the edge.
"use strict";

// Code points that an editor does not show, or that reorder what it shows: control characters, bidi
// overrides, zero-width and filler characters, variation selectors, tags. The same list as
// is_deceptive() in src/base/path.cc, so that terminal and editor show a resource alike.
const DECEPTIVE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

/** @param {string} character */
function code(character) {
  const point = /** @type {number} */ (character.codePointAt(0));
  return point < 0x80 ? `\\x${point.toString(16).padStart(2, "0")}` : `\\u{${point.toString(16)}}`;
}

/**
 * Shows what is there and nothing else. A backslash is doubled, so that no text can look like the
 * escape of another.
 * @param {string} text
 */
function escape(text) {
  return text.replaceAll("\\", "\\\\").replace(DECEPTIVE, code);
}

/**
 * For labels, messages, quick picks and the status bar, which are not plain text everywhere:
 * messages make links of [text](address), and labels icons of $(name). Takes escaped text; the marks
 * are taken out of their meaning in the notation of escape().
 * @param {string} escaped
 */
function plain(escaped) {
  return escaped.replaceAll("](", "]\\x28").replaceAll("$(", "$\\x28");
}

/**
 * For MarkdownString: every character of Markdown and HTML stands for itself.
 * @param {string} escaped
 */
function markdown(escaped) {
  return escaped.replace(/[\\`*_{}[\]()#+\-.!|<>&~:$@^=/"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

/**
 * Cuts in the middle. The end says more than the start, and keeps two thirds. Never cuts a surrogate
 * pair in two.
 * @param {string} text
 * @param {number} most in UTF-16 units
 */
function shorten(text, most) {
  if (text.length <= most) return text;
  const start = Math.floor((most - 1) / 3);
  const head = text.slice(0, start).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(text.length - (most - 1 - start)).replace(/^[\udc00-\udfff]/, "");
  return `${head}…${tail}`;
}

/**
 * Cut, which is said: what is left out could be what matters. Ready to be shown.
 * @param {string} raw
 * @param {number} most
 * @param {string} [end] what stands behind it, before that is said: a quote
 */
function clipped(raw, most, end = "") {
  const escaped = escape(raw);
  const said = escaped.length > most ? ` (${counted(raw.length, "character")}, not all shown)` : "";
  return `${plain(shorten(escaped, most))}${end}${said}`;
}

/**
 * Cuts a path in the middle, between two of its parts: the last one says most, and stays whole where there is room.
 * @param {string} path
 * @param {number} most in UTF-16 units
 */
function shortenPath(path, most) {
  const last = path.slice(path.lastIndexOf("/", path.length - 2) + 1);
  if (path.length <= most || last === path) return shorten(path, most);
  if (last.length + 2 > most) return shorten(last, most);
  const head = path.slice(0, most - last.length - 2);
  return `${head.slice(0, head.lastIndexOf("/") + 1)}…/${last}`;
}

/**
 * ~ for the home folder. A resource is an absolute path, so ~ at its start means nothing else.
 * @param {string} path
 * @param {string | undefined} home
 */
function tilde(path, home) {
  if (!home || home === "/" || !home.startsWith("/")) return path;
  if (path === home) return "~";
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/**
 * A name that an extension chose for itself: one line, short.
 * @param {string} name
 */
function name(name) {
  return plain(shorten(escape(name.trim()), 40));
}

/**
 * @param {number} bytes
 */
function size(bytes) {
  if (bytes < 1024 * 1024) return `${Math.max(0, Math.round(bytes / 1024))} KiB`;
  if (bytes < 1024 ** 3) return `${Math.round(bytes / 1024 ** 2)} MiB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

module.exports = { escape, plain, markdown, shorten, clipped, shortenPath, tilde, name, size, counted };
