import { parseDuration } from '../../../ground/api/duration.js';
import type { ViewReader } from '../model/views.js';
import type { Section } from '../yaml/section.js';

const ENTRIES = 10_000;

type ViewSection = Section<'feature-view'>;

/** Reads which plugin reads a view. The plugin and its options are checked when the project is compiled. */
export function readReader(view: ViewSection, isInFeast: boolean): ViewReader | undefined {
  const { diagnostics, file } = view;
  const use = view.located('use');
  if (use === undefined || isInFeast) {
    const [message, help] = isInFeast
      ? ['is not allowed for a view that Feast stores', 'remove the line, or `source:`']
      : ['does nothing: the view has no `use`', 'remove it, or name a reader: `use: postgres`'];
    for (const key of ['use', 'with', 'timeout', 'cache'] as const)
      if (view.has(key)) diagnostics.error('unknown_key', view.keyAt(key), `\`${key}\` ${message}`, help);
    return undefined;
  }
  return { use, with: view.value('with'), timeoutMs: readTimeout(view), cache: readCache(view), file };
}

function readTimeout(view: ViewSection): number | undefined {
  const ms = parseDuration(view.text('timeout') ?? '');
  if (ms !== undefined && ms < 1) view.wrong('timeout', 'must be at least 1ms', 'increase it');
  return ms;
}

function readCache(view: ViewSection): ViewReader['cache'] {
  if (!view.has('cache')) return undefined;
  const cache = view.section('cache');
  const freshMs = parseDuration(cache.text('fresh') ?? '') ?? 0;
  const keepMs = parseDuration(cache.text('keep') ?? '') ?? freshMs;
  if (freshMs === 0 && cache.has('fresh') && keepMs === 0)
    cache.wrong('fresh', 'must be more than 0', 'without `cache`, no row is kept');
  if (keepMs < freshMs)
    cache.wrong('keep', 'must be at least as long as `fresh`', 'increase it, or decrease `fresh`');
  return { freshMs, keepMs, entries: cache.whole('entries') ?? ENTRIES };
}
