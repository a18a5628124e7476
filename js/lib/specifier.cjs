'use strict';
// Which module an import asks for, the same at both ends: a specifier that begins with "./" or "../" is
// of its importer's folder, any other one is a name.

const { RangeError, StringSplit, StringStartsWith, ArrayPush, ArrayPop, ArrayJoin } = require('./primordials.cjs');

const MOST = 1000;

function moduleName(specifier, importer) {
  if (specifier.length > MOST || importer.length > MOST) throw new RangeError(`the name of a module is longer than ${MOST} characters`);
  const isRelative = StringStartsWith(specifier, './') || StringStartsWith(specifier, '../');
  if (!isRelative) return specifier;
  const parts = StringSplit(importer, '/');
  ArrayPop(parts);
  const steps = StringSplit(specifier, '/');
  for (let i = 0; i < steps.length; i++) {
    if (steps[i] === '..') ArrayPop(parts);
    else if (steps[i] !== '.') ArrayPush(parts, steps[i]);
  }
  return ArrayJoin(parts, '/');
}

module.exports = { moduleName, MOST };
