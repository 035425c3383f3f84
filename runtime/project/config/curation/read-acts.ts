import { numberOf, type Section } from '../yaml/section.js';
import { locatedText } from '../yaml/tree.js';
import type { Acts } from '../model/curation.js';
import type { YAML_KEYS } from '../model/yaml-keys.generated.js';

/** A mapping with the keys of acts: a rule, or a campaign. */
type ActSection = Section<'curation.rules'>;

/** The keys that change nothing. */
export const PASSIVE_KEYS = ['name', 'note', 'query', 'match', 'when', 'from', 'until'] as const;

export type ActName = Exclude<(typeof YAML_KEYS)['curation.rules'][number], (typeof PASSIVE_KEYS)[number]>;

/** What a rule can ask of a ranking, by its key: where a rule has it, and how it is read. */
export const ACTS: {
  readonly [Name in ActName]: { readonly [Field in keyof Acts]?: (section: ActSection) => Acts[Field] };
} = {
  pin: {
    pins: (section) =>
      section.entries('pin').flatMap(({ key, value }) => {
        const id = locatedText(section.file, value);
        return id === undefined ? [] : [{ position: Number(key), id }];
      }),
  },
  hide: { hides: (section) => section.texts('hide') },
  boost: { boosts: readBoost },
  bury: { buries: (section) => [section.section('bury').located('where')].flatMap((where) => where ?? []) },
  sponsor: { sponsors: readSponsor },
  banner: { banners: readBanner },
};

export const ACT_NAMES = Object.keys(ACTS) as readonly ActName[];

export const NO_ACTS: Acts = { pins: [], hides: [], boosts: [], buries: [], sponsors: [], banners: [] };

/** Reads what a rule or a campaign asks of a ranking. */
export function readActs(section: ActSection): Acts {
  const read = ACT_NAMES.flatMap((name) => Object.entries(ACTS[name]));
  return { ...NO_ACTS, ...Object.fromEntries(read.map(([field, of]) => [field, of(section)])) };
}

function readBoost(section: ActSection): Acts['boosts'] {
  const boost = section.section('boost');
  const where = boost.located('where');
  if (where === undefined) return [];
  const [multiply, add] = [boost.text('multiply'), boost.text('add')];
  if ((multiply === undefined) === (add === undefined)) {
    section.diagnostics.error(
      multiply === undefined ? 'missing_key' : 'unknown_key',
      section.keyAt('boost'),
      `\`boost\` needs one of \`multiply\` and \`add\`, found ${multiply === undefined ? 'none' : 'both'}`,
      'write `multiply: 1.5` or `add: 2`',
    );
    return [];
  }
  return [{ where, change: multiply === undefined ? 'add' : 'multiply', amount: Number(multiply ?? add) }];
}

function readSponsor(section: ActSection): Acts['sponsors'] {
  const sponsor = section.section('sponsor');
  const [id, label] = [sponsor.located('product'), sponsor.text('label')];
  const places = sponsor.items('places').flatMap((item) => numberOf(item) ?? []);
  if (id === undefined || label === undefined || places.length === 0) return [];
  const other = section.texts('hide').find(({ value }) => value === id.value);
  if (other !== undefined)
    section.diagnostics.error(
      'contradiction',
      other.at,
      `\`${id.value}\` is hidden and sponsored by the same rule`,
      'remove one of the two',
    );
  return [{ places, id, label }];
}

function readBanner(section: ActSection): Acts['banners'] {
  const banner = section.section('banner');
  const place = banner.text('place');
  if (place === undefined) return [];
  const [image, link, text] = [banner.located('image'), banner.text('link'), banner.text('text')];
  if (image === undefined && text === undefined)
    section.diagnostics.error(
      'missing_key',
      section.keyAt('banner'),
      '`banner` shows nothing: it has neither `image` nor `text`',
      'write at least one of the two',
    );
  const content = {
    place,
    ...(image === undefined ? {} : { image: image.value }),
    ...(link === undefined ? {} : { link }),
    ...(text === undefined ? {} : { text }),
  };
  return [{ content, image }];
}
