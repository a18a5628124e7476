// Runs the bulkhead program: its output is bounded, its time too.
"use strict";

const { execFile, spawn } = require("node:child_process");

const MAX_OUTPUT = 4 << 20;
const MAX_LINE = 1 << 16;

/**
 * @param {string} program
 * @param {string[]} words
 * @param {{ timeout?: number, allow?: number[] }} [options] allow: exit codes that are no failure
 * @returns {Promise<string>} its standard output
 */
function run(program, words, { timeout = 15_000, allow = [0] } = {}) {
  return new Promise((resolve, reject) => {
    execFile(program, words, { timeout, maxBuffer: MAX_OUTPUT, encoding: "utf8" }, (error, output, complaint) => {
      if (!error || (typeof error.code === "number" && allow.includes(error.code))) resolve(output);
      else reject(new Error(complaint.trim() || error.message));
    });
  });
}

/**
 * Gives each line of a child's output on, as JSON.
 * @param {import("node:child_process").ChildProcessByStdio<null, import("node:stream").Readable, import("node:stream").Readable>} child
 * @param {(value: any) => void} line
 * @param {(reason: string, code?: number | null) => void} end once: with its exit code, where it ended by itself
 * @returns {() => void} ends it without a word
 */
function lines(child, line, end) {
  let text = "";
  let complaint = "";
  let over = false;
  const finish = (/** @type {string} */ reason, /** @type {number | null} */ code = null) => {
    if (over) return;
    over = true;
    child.kill();
    end(reason, code);
  };
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (/** @type {string} */ part) => {
    if (over) return;
    const whole = (text + part).split("\n");
    text = whole.pop() ?? "";
    if (text.length > MAX_LINE || whole.some((one) => one.length > MAX_LINE)) return finish("a line of the journal is too long");
    for (const one of whole) {
      try {
        line(JSON.parse(one));
      } catch {
        return finish("a line of the journal cannot be read");
      }
    }
  });
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (/** @type {string} */ part) => {
    complaint = (complaint + part).slice(-2000);
  });
  child.on("error", (error) => finish(error.message));
  child.on("close", (code) => finish(complaint.trim() || `bulkhead log ended with exit code ${code}`, code));
  return () => {
    over = true;
    child.kill();
  };
}

/**
 * Reads JSON lines until disposed.
 * @param {string} program
 * @param {string[]} words
 * @param {{ line: (value: any) => void, end: (reason: string) => void }} to
 */
function follow(program, words, { line, end }) {
  return { dispose: lines(spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] }), line, end) };
}

/**
 * Reads JSON lines until there are no more: as many as there are, for none of them are kept here.
 * @param {string} program
 * @param {string[]} words
 * @param {(value: any) => void} line
 * @param {{ timeout?: number }} [options]
 * @returns {Promise<void>}
 */
function read(program, words, line, { timeout = 15_000 } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], timeout });
    lines(child, line, (reason, code) => (code === 0 ? resolve() : reject(new Error(reason))));
  });
}

module.exports = { run, read, follow };
