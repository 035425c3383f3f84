import { choiceOf } from '../model/choices.js';
import { RECORD_KINDS, type RecordKind } from '../../../ground/api/ledger.js';
import { parseSize } from '../../../ground/core/size.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { itemsOf, locatedText, memberOf, spanOf, textOf } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import type { SinkDefinition } from '../model/sinks.js';

const QUEUE_BYTES = 64 * 2 ** 20;
/** A smaller queue does not hold one record of a long ranking. */
const LEAST_QUEUE_BYTES = 2 ** 20;

/** The sink of a project that logs its rankings and declares no sink. */
export function fileSink({ at, file }: Pick<SinkDefinition, 'at' | 'file'>): SinkDefinition {
  return {
    name: 'file',
    use: { value: 'file', at },
    take: RECORD_KINDS,
    format: 'columns',
    queueBytes: QUEUE_BYTES,
    with: undefined,
    file,
    at,
  };
}

/** Loads the sinks of a project. Their plugins and options are checked when the project is compiled. */
export function loadSinks(files: readonly ParsedFile[], diagnostics: Diagnostics): SinkDefinition[] {
  return files.flatMap((parsed) => loadSink(parsed, diagnostics) ?? []);
}

function loadSink({ file, root, name }: ParsedFile, diagnostics: Diagnostics): SinkDefinition | undefined {
  const use = locatedText(file, memberOf(file, root, 'use'));
  // Its shape is wrong, which is reported.
  if (use === undefined) return undefined;
  const take = itemsOf(memberOf(file, root, 'take')).map(textOf);
  const queue = memberOf(file, root, 'queue');
  const queueBytes = parseSize(textOf(queue) ?? '') ?? QUEUE_BYTES;
  if (queue !== undefined && queueBytes < LEAST_QUEUE_BYTES)
    diagnostics.error(
      'wrong_type',
      spanOf(file, queue),
      '`queue`: expected at least 1MB',
      'one record of a long ranking can have many kilobytes',
    );
  return {
    name: name.value,
    use,
    take: take.length === 0 ? RECORD_KINDS : RECORD_KINDS.filter((kind: RecordKind) => take.includes(kind)),
    format: choiceOf('sink.format', textOf(memberOf(file, root, 'format'))),
    queueBytes,
    with: memberOf(file, root, 'with'),
    file,
    at: name.at,
  };
}
