/**
 * The words of the keys of YAML files that have a few words as their values, by file and key. The first word is the
 * default. The types and the loader read these lists; a test compares the JSON Schemas with them.
 */
export const CHOICES = {
  'curation.match': ['equals', 'prefix', 'contains'],
  'entity.ids': ['exact', 'normalized'],
  'experiment.mode': ['split', 'interleave', 'shadow'],
  'feature-view.expired': ['missing', 'stale', 'fail'],
  'feature-view.type': ['string', 'int64', 'int32', 'timestamp', 'bytes'],
  'pipeline.unknown': ['ignore', 'refuse'],
  'pipeline.duplicates': ['ignore', 'refuse'],
  'pipeline.on_store_error': ['fail', 'unranked'],
  'pipeline.candidates': ['page', 'all'],
  'pipeline.features': ['models', 'all'],
  'pipeline.on_error': ['fail', 'skip'],
  'pipeline.unscored': ['keep', 'last'],
  'sink.format': ['columns', 'events'],
  'source.write': ['replace', 'merge'],
} as const;

export type Choice<Key extends keyof typeof CHOICES> = (typeof CHOICES)[Key][number];

/** The word that a file has. Another word was reported when its shape was checked; it counts as the default. */
export function choiceOf<Key extends keyof typeof CHOICES>(key: Key, text: string | undefined): Choice<Key> {
  const words: readonly Choice<Key>[] = CHOICES[key];
  return words.find((word) => word === text) ?? CHOICES[key][0];
}
