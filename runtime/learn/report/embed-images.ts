import { Buffer } from 'node:buffer';
import { counted } from '../../ground/core/count.js';
import type { Part, Report } from './tree.js';

/** The most images of a page. */
const MOST_IMAGES = 300;
/** The most bytes of one image, and of all together. */
const MOST_BYTES = 512 * 1024;
const MOST_IN_ALL = 16 * 1024 * 1024;
/** The longest that one image may take to load, milliseconds, and how many are loaded at the same time. */
const WITHIN_MS = 5000;
const AT_ONCE = 8;
const IMAGE = /^image\/(?:avif|gif|jpeg|png|svg\+xml|webp)$/;

/**
 * Loads the images of a report's cards, so that its page is one file. Cards have only images of the hosts in `image_hosts`, so
 * redirects are not followed.
 * @param warn is called once if images could not be loaded, with how many
 * @returns by address
 */
export async function embedImages(
  { parts }: Report,
  warn: (message: string) => void,
): Promise<ReadonlyMap<string, string>> {
  const addresses = [...new Set(parts.flatMap(imagesOf))];
  const left = addresses.slice(0, MOST_IMAGES).values();
  const images = new Map<string, string>();
  let bytes = 0;
  const work = async (): Promise<void> => {
    for (const address of left) {
      const image = await load(address).catch(() => undefined);
      if (image === undefined || bytes + image.length > MOST_IN_ALL) continue;
      bytes += image.length;
      images.set(address, image);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const without = addresses.length - images.size;
  if (without > 0)
    warn(`${counted(without, 'image')} could not be loaded and ${without === 1 ? 'is' : 'are'} left out`);
  return images;
}

function imagesOf(part: Part): readonly string[] {
  if (typeof part === 'string') return [];
  if ('sides' in part)
    return part.sides.flatMap(({ cards }) => cards.flatMap(({ card }) => card?.image ?? []));
  if ('section' in part) return part.parts.flatMap(imagesOf);
  return 'page' in part ? part.page.flatMap(imagesOf) : [];
}

/** @returns a `data:` address; undefined if it is not an image or is too large. Rejects as `fetch` does. */
async function load(address: string): Promise<string | undefined> {
  const answer = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(WITHIN_MS) });
  const type = answer.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!answer.ok || !IMAGE.test(type) || answer.body === null) {
    await answer.body?.cancel();
    return undefined;
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return `data:${type};base64,${Buffer.concat(chunks).toString('base64')}`;
}
