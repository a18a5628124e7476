import assert from "node:assert/strict";
import test from "node:test";
import text from "./text.js";

test("what is not seen, or turns what is seen around, is written out", () => {
  assert.equal(text.escape("a\u202egnp.exe"), "a\\u{202e}gnp.exe");
  assert.equal(text.escape("a\nb\u0000\u001b[31m\u007f\u0085"), "a\\x0ab\\x00\\x1b[31m\\x7f\\u{85}");
  assert.equal(text.escape("zero\u200b\u200d\ufeffwidth\u2066\u00ad"), "zero\\u{200b}\\u{200d}\\u{feff}width\\u{2066}\\u{ad}");
  assert.equal(text.escape("\u{e0041}\u3164\ufe0f\u2028"), "\\u{e0041}\\u{3164}\\u{fe0f}\\u{2028}");
  assert.equal(text.escape("\ud800x"), "\\u{d800}x");
});

test("what is seen stays", () => {
  assert.equal(text.escape("/home/me/märta/日本語/😀.txt"), "/home/me/märta/日本語/😀.txt");
});

test("no text can look like the escape of another", () => {
  assert.notEqual(text.escape("\\u{202e}"), text.escape("\u202e"));
  assert.equal(text.escape("\\x0a"), "\\\\x0a");
});

test("links of messages and icons of labels lose their meaning", () => {
  const link = text.plain(text.escape("[ok](command:bulkhead.grant) $(alert)"));
  assert.ok(!/\]\(/.test(link) && !/\$\(/.test(link), link);
});

test("Markdown stands for itself", () => {
  for (const mark of ["*", "_", "`", "[", "]", "(", ")", "<", ">", "&", "#", "|", "$", "!", "~", "\\"])
    assert.ok(!text.markdown(`a${mark}b`).replace(/&#\d+;/g, "").includes(mark), mark);
  assert.ok(!text.markdown("https://evil.example").includes("://"));
});

test("the end of a long path is kept", () => {
  const path = `/home/me/${"x/".repeat(100)}.ssh/id_rsa`;
  const short = text.shorten(path, 60);
  assert.equal(short.length, 60);
  assert.ok(short.startsWith("/home/me/") && short.endsWith(".ssh/id_rsa") && short.includes("…"));
  assert.equal(text.shorten("short", 60), "short");
});

test("a surrogate pair is not cut in two", () => {
  for (let most = 4; most < 20; most += 1)
    assert.ok(text.shorten("😀".repeat(30), most).isWellFormed(), String(most));
});

test("the home folder, by components", () => {
  assert.equal(text.tilde("/home/me/.ssh", "/home/me"), "~/.ssh");
  assert.equal(text.tilde("/home/me", "/home/me"), "~");
  assert.equal(text.tilde("/home/me-too/x", "/home/me"), "/home/me-too/x");
  assert.equal(text.tilde("/etc", "/"), "/etc");
  assert.equal(text.tilde("/etc", undefined), "/etc");
});

test("a name is one short line", () => {
  const name = text.name(`  Evil\nBulkhead asks: ${"x".repeat(100)}`);
  assert.ok(name.length <= 40 && !name.includes("\n"), name);
});

test("of a path that is too long its last part stays whole", () => {
  assert.equal(text.shortenPath("/home/me/project/src/deep/down/component.tsx", 30), "/home/me/…/component.tsx");
  assert.equal(text.shortenPath("/home/me/project/src/deep/", 16), "/home/me/…/deep/");
  assert.equal(text.shortenPath("/short/one", 30), "/short/one");
  const long = `/a/${"b".repeat(100)}`;
  assert.equal(text.shortenPath(long, 40).length, 40);
  assert.equal(text.shortenPath("x".repeat(100), 40).length, 40);
  for (let most = 4; most < 40; most += 1) {
    assert.ok(text.shortenPath(`/${"😀".repeat(20)}/${"😀".repeat(9)}`, most).isWellFormed(), String(most));
    assert.ok(text.shortenPath("/home/me/project/src/deep/down/component.tsx", most).length <= most, String(most));
  }
});
