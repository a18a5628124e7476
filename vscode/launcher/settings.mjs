// The editor's own settings, as far as the launcher needs them before the editor runs.
import fs from "node:fs";
import path from "node:path";

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]*\.[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** JSON as VS Code keeps its settings in: comments, and commas before a closing bracket. */
function parseSettings(text) {
  const token = /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*[\]}])/g;
  const plain = text.replace(/^\ufeff/, "").replace(token, (found) => (found.startsWith('"') ? found : " "));
  return plain.trim() === "" ? {} : JSON.parse(plain);
}

const fileOf = (/** @type {string} */ data) => path.join(data, "data/Machine/settings.json");

/** Settings of the machine, which no workspace can say. @param {string} data the server's data folder */
function machineSettings(data) {
  const file = fileOf(data);
  let text;
  try {
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw error;
  }
  try {
    return parseSettings(text);
  } catch (error) {
    // Not read as empty: extensions that were to be confined would run without a compartment.
    throw new Error(`${file} cannot be read: ${error.message}`);
  }
}

/**
 * bulkhead.reviewAll: whether a person reads of each extension before it runs.
 * @param {string} data the server's data folder
 */
export function reviewSetting(data) {
  const all = machineSettings(data)["bulkhead.reviewAll"] ?? false;
  if (typeof all !== "boolean") throw new Error(`${fileOf(data)}: bulkhead.reviewAll must be true or false`);
  return all;
}

/**
 * Lists of built-in extensions.
 * @param {string} data the server's data folder
 * @returns {{ builtin: string[], outside: string[] }} ids: of bulkhead.compartments.builtin, bulkhead.compartments.outside
 */
export function builtinSettings(data) {
  const settings = machineSettings(data);
  const list = (/** @type {string} */ name) => {
    const ids = settings[name] ?? [];
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string" && ID.test(id)))
      throw new Error(`${fileOf(data)}: ${name} must be a list of extension ids, such as ["vscode.git"]`);
    return ids;
  };
  return { builtin: list("bulkhead.compartments.builtin"), outside: list("bulkhead.compartments.outside") };
}
