// VS Code as the companion's tests have it: `vscode` is no package, and no editor runs here.
import Module, { createRequire } from "node:module";

/**
 * A module of the companion, with this in the place of VS Code.
 * @param {string} file
 * @param {object} vscode
 */
export function withVscode(file, vscode) {
  const load = /** @type {any} */ (Module)._load;
  /** @type {any} */ (Module)._load = (request, ...rest) => (request === "vscode" ? vscode : load(request, ...rest));
  try {
    return createRequire(import.meta.url)(file);
  } finally {
    /** @type {any} */ (Module)._load = load;
  }
}
