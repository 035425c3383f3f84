import { typeText, type ValueType } from '../../../ground/api/types.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import type { AttributeDefinition, Display, DisplayPath, EntityType } from '../model/entities.js';
import { Section } from '../yaml/section.js';
import { spanWithin, type Located } from '../yaml/source.js';
import { isMember } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import type { TypeContext } from './parse-type.js';

/** Reads `display:` of a file. Its paths may lead to entities of other types, so all types are loaded before. */
export function loadDisplay(
  { file, root, name }: ParsedFile,
  types: ReadonlyMap<string, EntityType>,
  { diagnostics }: TypeContext,
): Display | undefined {
  const entity = new Section('entity', file, root, diagnostics);
  if (!entity.has('display')) return undefined;
  const display = entity.section('display');
  const read = (path: Located<string> | undefined, isImage = false): DisplayPath | undefined => {
    if (path === undefined) return undefined;
    // An attribute with a wrong type is reported there.
    const isLoaded = types.get(name.value)?.attributes.has(path.value) === true;
    if (!isLoaded && isMember(entity.value('attributes'), path.value)) return undefined;
    return readPath(path, name.value, types, isImage, diagnostics);
  };
  const one = (key: 'title' | 'image' | 'subtitle'): Partial<Display> => {
    const path = read(display.located(key), key === 'image');
    return path === undefined ? {} : { [key]: path };
  };
  const badges = display.texts('badges').flatMap((path) => read(path) ?? []);
  return { ...one('title'), ...one('image'), ...one('subtitle'), badges };
}

function readPath(
  path: Located<string>,
  type: string,
  types: ReadonlyMap<string, EntityType>,
  isImage: boolean,
  diagnostics: TypeContext['diagnostics'],
): DisplayPath | undefined {
  const references: DisplayPath['references'][number][] = [];
  const names = path.value.split('.');
  let entity = types.get(type);
  for (const [at, name] of names.entries()) {
    if (entity === undefined) return undefined; // a type that does not exist is reported at its reference
    const start = names.slice(0, at).reduce((sum, one) => sum + one.length + 1, 0);
    const place = spanWithin(path, start, start + name.length);
    const attribute = entity.attributes.get(name);
    if (attribute === undefined) {
      const known = [...entity.attributes.keys()];
      const all = known.length === 0 ? 'it declares none' : `it has ${known.slice(0, 8).join(', ')}`;
      const message = `\`${entity.name}\` has no attribute \`${name}\``;
      const shorter = names.slice(0, at).join('.');
      const ofKey = at === 0 ? 'a card without a title shows the id' : `\`${shorter}\` shows the id`;
      const help = name === entity.key ? ofKey : didYouMean(name, known);
      diagnostics.error('unknown_attribute', place, message, help ?? all);
      return undefined;
    }
    const isLast = at === names.length - 1;
    const fault = privateFault(attribute) ?? (isLast ? faultOf(attribute, isImage) : undefined);
    if (fault !== undefined) {
      diagnostics.error('wrong_type', place, `\`${name}\` ${fault.is}`, fault.help);
      return undefined;
    }
    if (isLast) return { text: path.value, references, attribute };
    if (attribute.type.kind !== 'ref') {
      const message = `\`${name}\` is \`${typeText(attribute.type)}\`, not a reference to an entity`;
      diagnostics.error(
        'wrong_type',
        place,
        message,
        `end the path here: \`${names.slice(0, at + 1).join('.')}\``,
      );
      return undefined;
    }
    references.push({ attribute: name, entity: attribute.type.entity });
    entity = types.get(attribute.type.entity);
  }
  return undefined;
}

interface Fault {
  readonly is: string;
  readonly help: string;
}

/** What a private reference leads to is private as well. */
function privateFault({ isPrivate }: AttributeDefinition): Fault | undefined {
  if (isPrivate !== true) return undefined;
  return { is: 'is private', help: 'a card is seen by people; name another attribute' };
}

/** Why a card cannot show the attribute at the end of a path. */
function faultOf({ type }: AttributeDefinition, isImage: boolean): Fault | undefined {
  const is = `is \`${typeText(type)}\``;
  if (isImage && innerOf(type) !== 'string') return { is, help: 'an image is a text, its address' };
  if (['vector', 'record'].includes(innerOf(type))) return { is, help: 'a card shows texts and numbers' };
  return undefined;
}

const innerOf = (type: ValueType): string => (type.kind === 'list' ? type.of.kind : type.kind);
