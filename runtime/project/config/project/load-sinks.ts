import { RECORD_KINDS } from '../../../ground/api/ledger.js';
import { parseSize } from '../../../ground/core/size.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { Section } from '../yaml/section.js';
import { textOf } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import type { SinkDefinition } from '../model/sinks.js';

const QUEUE_BYTES = 64 * 2 ** 20;
/** A smaller queue does not hold one record of a long ranking. */
const LEAST_QUEUE_BYTES = 2 ** 20;

/** The sink of a project that logs its rankings and declares no sink. @param use the plugin that writes to its ledger */
export function defaultSink(
  use: 'file' | 's3',
  { at, file }: Pick<SinkDefinition, 'at' | 'file'>,
): SinkDefinition {
  return {
    name: use,
    use: { value: use, at },
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
  const sink = new Section('sink', file, root, diagnostics);
  const use = sink.located('use');
  // Its shape is wrong, which is reported.
  if (use === undefined) return undefined;
  const take = sink.items('take').map(textOf);
  const queueBytes = parseSize(sink.text('queue') ?? '') ?? QUEUE_BYTES;
  if (queueBytes < LEAST_QUEUE_BYTES)
    sink.wrong('queue', 'expected at least 1MB', 'one record of a long ranking can have many kilobytes');
  return {
    name: name.value,
    use,
    take: take.length === 0 ? RECORD_KINDS : RECORD_KINDS.filter((kind) => take.includes(kind)),
    format: sink.word('format') ?? 'columns',
    queueBytes,
    with: sink.value('with'),
    file,
    at: name.at,
  };
}
