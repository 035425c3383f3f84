import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';

/** A process that writes to an embedded store without end, and reports each acknowledged write to its parent. */
const store = await openEmbeddedStore({ dataDir: process.argv[2] ?? '' });
for (let i = 0; process.connected; i++) {
  const key = `n${String(i)}`;
  await store.write([{ key, value: Buffer.from(key) }]);
  process.send?.(i);
}
