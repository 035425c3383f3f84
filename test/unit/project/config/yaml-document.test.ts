import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { Diagnostics, type Diagnostic } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import type { Environment } from '../../../../runtime/project/config/yaml/interpolate.js';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import { entriesOf, memberOf, textOf } from '../../../../runtime/project/config/yaml/tree.js';
import { parseYaml } from '../../../../runtime/project/config/yaml/yaml-document.js';
import { repositoryPath } from '../../../support/repository.js';
import { draws } from '../../../support/draws.js';

function parse(
  text: string,
  environment: Environment = {},
): {
  value: (key: string) => string | undefined;
  told: readonly Diagnostic[];
  sound: boolean;
} {
  const diagnostics = new Diagnostics();
  const file = new SourceFile('p.yaml', text);
  const root = parseYaml(file, environment, diagnostics);
  return {
    value: (key) => textOf(memberOf(root, key)),
    told: diagnostics.all,
    sound: root !== undefined,
  };
}

describe('parseYaml', () => {
  it('reads YAML 1.2: no, on and dates are strings', () => {
    const { value, told } = parse('a: no\nb: 2024-01-01\nc: 012\nd: !!');
    expect(told).to.have.length(1);
    expect(value('a')).to.equal(undefined);
    const sound = parse('a: no\nb: 2024-01-01\nc: 012');
    expect([sound.value('a'), sound.value('b'), sound.value('c')]).to.deep.equal(['no', '2024-01-01', '012']);
  });

  it('accepts comments, quotes, blocks, and intended commas', () => {
    const { value, told } = parse(
      [
        'a: max(x, y) # a comment',
        'b: "x # y"',
        'c: >-\n  x > 0\n  and y > 0',
        'd: { e: "max(a, b)", f: [g(h), i] }',
        'j: x != "k"  # "quoted"',
        "l: it's fine # so is this",
        'm: x#y',
      ].join('\n'),
    );
    expect(told).to.deep.equal([]);
    expect(['a', 'b', 'c', 'j', 'l', 'm'].map(value)).to.deep.equal([
      'max(x, y)',
      'x # y',
      'x > 0 and y > 0',
      'x != "k"',
      "it's fine",
      'x#y',
    ]);
  });

  it('takes CRLF', () => {
    const { value, told } = parse('a: b\r\nc: |\r\n  d\r\n');
    expect(told).to.deep.equal([]);
    expect([value('a'), value('c')]).to.deep.equal(['b', 'd']);
  });

  it('keeps keys as written, and reports duplicate keys', () => {
    const diagnostics = new Diagnostics();
    const file = new SourceFile('p.yaml', '1: a\n01: b\ntrue: c\n"1": d\n__proto__: e\n__proto__: f');
    const root = parseYaml(file, {}, diagnostics);
    expect(entriesOf(file, root).map(({ key }) => key)).to.deep.equal([
      '1',
      '01',
      'true',
      '1',
      '__proto__',
      '__proto__',
    ]);
    expect(diagnostics.all.map(({ code, message }) => [code, message])).to.deep.equal([
      ['duplicate_name', 'the key `1` is written twice'],
      ['duplicate_name', 'the key `__proto__` is written twice'],
    ]);
  });

  it('rejects nesting that is too deep, in any form, at its place', () => {
    for (const [text, at] of [
      [`a: ${'['.repeat(200_000)}`, 67],
      [`a: ${'['.repeat(20_000)}${']'.repeat(20_000)}`, 67],
      [`a: ${'{a: '.repeat(20_000)}`, 256],
      [`a: ${'['.repeat(65)}${']'.repeat(65)}`, 67],
      [`${'- '.repeat(20_000)}a`, 130],
      [`${'? '.repeat(20_000)}a`, 130],
    ] as const) {
      const { told, sound } = parse(text);
      expect(sound, text.slice(0, 20)).to.equal(false);
      expect(told.map(({ message, at: { start } }) => [message, start])).to.deep.equal([
        ['nested more than 64 levels deep', at],
      ]);
    }
    expect(parse(`a: ${'['.repeat(64)}${']'.repeat(64)}`).sound).to.equal(true);
  });

  it('reports several mistakes on different lines together', () => {
    const { told } = parse('a: !x(y)\nb: @c\nd: "e" == f\n');
    expect(told.map(({ at }) => at.file.position(at.start).line)).to.deep.equal([1, 2, 3]);
  });

  it('places an error at the very end inside the file', () => {
    const text = 'a: b\nc: { d: 1, e:{ 60 }';
    const [fault] = parse(text).told;
    expect(fault?.at.end).to.equal(text.length);
  });

  it('never throws, and places every diagnostic inside the file', () => {
    const sound = readFileSync(
      repositoryPath('test/unit/project/config/golden/sound/pipelines/search.yaml'),
      'utf8',
    );
    const noise = fc.constantFrom(
      ...'{}[]()"\'!&*|>%@`#,:-?\t\n \\$é😀'.split(''),
      '${',
      ': ',
      ' #',
      '- ',
      '\r\n',
      '---\n',
    );
    const edit = fc.record({ at: fc.nat(sound.length), remove: fc.nat(8), insert: noise });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const text = edits.reduce(
          (now, { at, remove, insert }) => now.slice(0, at) + insert + now.slice(at + remove),
          sound,
        );
        const { told, sound: ok } = parse(text);
        if (!ok) expect(told.length).to.be.greaterThan(0);
        for (const { at } of told) {
          expect(at.start).to.be.within(0, text.length);
          expect(at.end).to.be.within(at.start, text.length);
        }
        renderDiagnostics(told, { color: false, width: 80 });
      }),
      { numRuns: draws(75) },
    );
  });
});

describe('environment variables in values', () => {
  const environment = { URL: 'http://x', EMPTY: '', ODD: 'a: [b] # "c" ${URL}' };

  it('are replaced in plain, quoted and block strings', () => {
    const { value, told } = parse('a: ${URL}/v1\nb: "${URL}"\nc: |\n  ${URL}\nd: ["${URL}"]', environment);
    expect(told).to.deep.equal([]);
    expect(['a', 'b', 'c'].map(value)).to.deep.equal(['http://x/v1', 'http://x', 'http://x']);
  });

  it('are strings, whatever they contain, and are not interpolated again', () => {
    const { value, told } = parse('a: ${ODD}', environment);
    expect(told).to.deep.equal([]);
    expect(value('a')).to.equal('a: [b] # "c" ${URL}');
  });

  it('use their default if they are unset or empty', () => {
    const { value, told } = parse(
      'a: ${NONE:-x:-y}\nb: ${EMPTY:-z}\nc: "<${EMPTY}>"\nd: "<${NONE:-}>"',
      environment,
    );
    expect(told).to.deep.equal([]);
    expect(['a', 'b', 'c', 'd'].map(value)).to.deep.equal(['x:-y', 'z', '<>', '<>']);
  });

  it('are an error if they are unset, also with inherited names', () => {
    const { told, sound } = parse('a: ${NONE}\nb: ${toString}\nc: ${__proto__}', environment);
    expect(sound).to.equal(false);
    expect(told.map(({ code }) => code)).to.deep.equal([
      'unset_variable',
      'unset_variable',
      'unset_variable',
    ]);
  });

  it('can be escaped', () => {
    const { value, told } = parse('a: $${URL}\nb: $URL\nc: $$', environment);
    expect(told).to.deep.equal([]);
    expect(['a', 'b', 'c'].map(value)).to.deep.equal(['${URL}', '$URL', '$$']);
  });

  it('are an error if the braces contain no valid name', () => {
    for (const text of ['a: ${A B}', 'a: ${}', 'a: ${URL', 'a: ${1X}', 'a: ${URL-x}'])
      expect(
        parse(text, environment).told.map(({ code }) => code),
        text,
      ).to.deep.equal(['unset_variable']);
  });

  it('are not replaced in keys', () => {
    const diagnostics = new Diagnostics();
    const file = new SourceFile('p.yaml', '${URL}: 1');
    expect(entriesOf(file, parseYaml(file, environment, diagnostics))[0]?.key).to.equal('${URL}');
  });
});
