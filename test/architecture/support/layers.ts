import type { Import } from './imports.js';

/** Returns the layers that the section "Layers" of docs/architecture.md lists, lowest first. */
export function layersOf(page: string): string[] {
  const [, section = ''] = /^## Layers\n([\s\S]*?)^## /m.exec(page) ?? [];
  return [...section.matchAll(/^\| `([a-z/-]+)` /gm)].map(([, name = '']) => name);
}

/** Returns imports of a layer by a lower layer, and imports of a file without a layer, as `file → import`. */
export function upwardImports(imports: readonly Import[], layers: readonly string[]): string[] {
  // The entry file of the process is above all layers.
  const levelOf = (path: string): number => {
    if (path.split('/').length === 2) return layers.length;
    const level = layers.findIndex((layer) => path.startsWith(`runtime/${layer}/`));
    return level < 0 ? Infinity : level;
  };
  return imports
    .filter(({ file, of, ours }) => {
      if (!ours || !of.startsWith('runtime/')) return false;
      return levelOf(of) === Infinity || levelOf(of) > levelOf(file);
    })
    .map(({ file, of }) => `${file} → ${of}`);
}

/**
 * Returns one import cycle for each group of files that import one another, as `a → b → a`. The groups are the
 * strongly connected components (Tarjan, Depth-first search and linear graph algorithms, 1972).
 */
export function circlesOf(imports: readonly Import[]): string[] {
  const graph = new Map<string, Set<string>>();
  for (const { file, of, ours } of imports) {
    const targets = graph.get(file) ?? new Set();
    graph.set(file, targets);
    if (ours) targets.add(of.replace(/\.js$/, '.ts'));
  }
  return componentsOf(graph)
    .filter((component) => component.size > 1)
    .map((component) => circleIn(component, graph).join(' → '));
}

function componentsOf(graph: ReadonlyMap<string, ReadonlySet<string>>): Set<string>[] {
  const components: Set<string>[] = [];
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const visit = (file: string): number => {
    const number = order.size;
    order.set(file, number);
    let least = number;
    open.push(file);
    isOpen.add(file);
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) least = Math.min(least, visit(next));
      else if (isOpen.has(next)) least = Math.min(least, order.get(next) ?? least);
    }
    low.set(file, least);
    if (least === number) {
      const component = new Set(open.splice(open.indexOf(file)));
      for (const member of component) isOpen.delete(member);
      components.push(component);
    }
    return least;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return components;
}

/** Returns a shortest cycle through the first file of a component. */
function circleIn(component: ReadonlySet<string>, graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const [start = ''] = component;
  const paths: string[][] = [[start]];
  const seen = new Set<string>();
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    for (const next of graph.get(path.at(-1) ?? '') ?? []) {
      if (next === start) return [...path, start];
      if (!component.has(next) || seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return [...component];
}
