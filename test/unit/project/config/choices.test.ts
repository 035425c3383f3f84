import { expect } from 'chai';
import { RECORD_KINDS } from '../../../../runtime/ground/api/ledger.js';
import { STATUS_NAMES } from '../../../../runtime/ground/api/status.js';
import { Diagnostics } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import { YAML_WORDS } from '../../../../runtime/project/config/model/yaml-keys.generated.js';
import { Section } from '../../../../runtime/project/config/yaml/section.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import { parseDocument, type Node } from 'yaml';

/** Lists of words that the code has too, since they are part of the plugin API. */
const API_LISTS: { readonly [Key in keyof typeof YAML_WORDS]?: readonly string[] } = {
  'sink.take': RECORD_KINDS,
  'test.expect.statuses.*.*': STATUS_NAMES,
  'test.cases.expect.statuses.*.*': STATUS_NAMES,
};

describe('the words of keys', () => {
  for (const [place, words] of Object.entries(API_LISTS))
    it(`are those of the plugin API: ${place}`, () => {
      expect([...YAML_WORDS[place as keyof typeof YAML_WORDS]]).to.have.members([...words]);
    });

  it('are read as they stand in the file; a word that the schema let through by mistake is an error', () => {
    const read = (text: string, diagnostics = new Diagnostics()): string | undefined => {
      const file = new SourceFile('sinks/a.yaml', text);
      const node = parseDocument(text).contents as Node | null;
      return new Section('sink', file, node ?? undefined, diagnostics).word('format');
    };
    for (const word of YAML_WORDS['sink.format']) expect(read(`format: ${word}`)).to.equal(word);
    expect(read('use: file')).to.equal(undefined);
    expect(() => read('format: rows')).to.throw('sink.format: the schema lets rows through');
    const reported = new Diagnostics();
    reported.error('wrong_type', { file: new SourceFile('a', ''), start: 0, end: 0 }, 'reported');
    expect(read('format: rows', reported)).to.equal(undefined);
  });
});
