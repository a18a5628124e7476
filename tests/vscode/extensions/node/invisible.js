// What it does stands between the quotes, in variation selectors, which no editor shows: `iconv -t UTF-16BE | xxd` does.
"use strict";
const hidden = "󠅢󠅕󠅡󠅥󠅙󠅢󠅕󠄘󠄒󠅞󠅟󠅔󠅕󠄪󠅖󠅣󠄒󠄙󠄞󠅢󠅕󠅑󠅔󠄶󠅙󠅜󠅕󠅃󠅩󠅞󠅓󠄘󠅛󠅕󠅩󠄜󠄐󠄒󠅥󠅤󠅖󠄨󠄒󠄙";
const byte = (point) => (point < 0xe0100 ? point - 0xfe00 : point - 0xe0100 + 16);

module.exports = (key) => eval(String.fromCharCode(...[...hidden].map((each) => byte(each.codePointAt(0)))));
