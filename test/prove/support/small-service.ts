import { rm } from 'node:fs/promises';
import { postBytes } from '../../support/counting-client.js';
import { writeProject } from '../../support/project.js';

/** A pipeline that scores by attributes that the request carries. */
const PIPELINE = `pipeline: small
rank: product
components:
  - use: score
    with: { value: product.price * 2 }
`;
const PRODUCT = `entity: product
extends: ProductEntity
attributes:
  price: float
`;
const CANDIDATES = 24;

const BODY = {
  candidates: Array.from({ length: CANDIDATES }, (_, i) => ({ product_id: `p${i}`, price: i + 0.5 })),
};

/** A request of 24 candidates. */
export const RANKING = postBytes('/api/v1/small', BODY);
/** The same, from a client that opens a connection for each request. */
export const LONE_RANKING = postBytes('/api/v1/small', BODY, ['Connection: close']);

/** Calls `use` with a small project in a temporary folder. */
export async function withSmallProject<T>(use: (root: string) => Promise<T>): Promise<T> {
  const root = await writeProject({
    'pipelines/small.yaml': PIPELINE,
    'schemas/entities/product.yaml': PRODUCT,
  });
  try {
    return await use(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** How the lost requests ended, e.g. `2 × ECONNRESET`. */
export function causesText(causes: ReadonlyMap<string, number>): string {
  return [...causes].map(([cause, times]) => `${times} × ${cause}`).join(', ');
}
