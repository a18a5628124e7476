'use strict';
// What a guest says may hold what a terminal obeys, or shows as something else: controls, and what turns the direction of
// text or is not seen. Joiners are part of words and emoji.

const unseen = /[^\P{C}\t\n\u200c\u200d\p{Cn}\p{Co}\p{Cs}]|[\p{Zl}\p{Zp}]/gu;
const escaped = (c) => (c.codePointAt(0) < 256 ? `\\x${c.codePointAt(0).toString(16).padStart(2, '0')}` : `\\u{${c.codePointAt(0).toString(16)}}`);
const inJson = (c) => Array.from({ length: c.length }, (_, i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
const withoutUnseen = (text, escape = escaped) => text.replace(unseen, escape);

module.exports = { withoutUnseen, inJson };
