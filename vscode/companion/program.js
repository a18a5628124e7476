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
 * Reads JSON lines until disposed.
 * @param {string} program
 * @param {string[]} words
 * @param {{ line: (value: any) => void, end: (reason: string) => void }} to
 */
function follow(program, words, { line, end }) {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  let complaint = "";
  let over = false;
  const finish = (/** @type {string} */ reason) => {
    if (over) return;
    over = true;
    child.kill();
    end(reason);
  };
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (/** @type {string} */ part) => {
    if (over) return;
    const lines = (text + part).split("\n");
    text = lines.pop() ?? "";
    if (text.length > MAX_LINE) return finish("a line of the journal is too long");
    for (const one of lines) {
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
  child.on("close", (code) => finish(complaint.trim() || `bulkhead log ended with exit code ${code}`));
  return {
    dispose() {
      over = true;
      child.kill();
    },
  };
}

module.exports = { run, follow };
