type Words = readonly [string, ...string[]];

/** A kind of product: the words for its titles and descriptions, and its price range. */
export interface Kind {
  readonly id: string;
  readonly name: string;
  readonly parent: string;
  readonly nouns: Words;
  /** A title contains one word of each list, so no product is both wired and wireless. */
  readonly qualities: readonly [Words, Words];
  readonly uses: Words;
  /** Minimum and maximum price in whole units of currency. */
  readonly price: readonly [number, number];
}

/** The invented brands of the demo shop. */
export const BRANDS: Words = [
  'Aldervane',
  'Birkholm',
  'Calloway Pike',
  'Corvane',
  'Dunmere',
  'Eastfell',
  'Fennick',
  'Grayling',
  'Halvorn',
  'Ironbrook',
  'Juniper Vale',
  'Kestrel Bay',
  'Larkmoor',
  'Mossgate',
  'Norvik',
  'Oakhollow',
  'Pellworth',
  'Quillon',
  'Ravensea',
  'Sundrift',
  'Tarnwick',
  'Umberline',
  'Vantrell',
  'Westermark',
];

export const COLOURS: Words = ['black', 'white', 'graphite', 'sand', 'forest', 'navy', 'rust', 'silver'];

export const KINDS: readonly [Kind, ...Kind[]] = [
  {
    id: 'headphones',
    name: 'Headphones',
    parent: 'audio',
    nouns: ['headphones', 'headset', 'earbuds'],
    qualities: [
      ['wireless', 'wired', 'noise cancelling'],
      ['over-ear', 'foldable', 'studio'],
    ],
    uses: ['long flights', 'calls in a loud office', 'running', 'mixing at home'],
    price: [19, 389],
  },
  {
    id: 'speakers',
    name: 'Speakers',
    parent: 'audio',
    nouns: ['speaker', 'bookshelf speaker', 'soundbar'],
    qualities: [
      ['wireless', 'active', 'party'],
      ['portable', 'waterproof', 'compact'],
    ],
    uses: ['the kitchen', 'films at night', 'the beach', 'a small living room'],
    price: [25, 499],
  },
  {
    id: 'keyboards',
    name: 'Keyboards',
    parent: 'desk',
    nouns: ['keyboard', 'keypad'],
    qualities: [
      ['mechanical', 'silent', 'ergonomic'],
      ['wireless', 'backlit', 'compact'],
    ],
    uses: ['writing all day', 'gaming', 'a tidy desk', 'travel'],
    price: [18, 219],
  },
  {
    id: 'lamps',
    name: 'Desk lamps',
    parent: 'desk',
    nouns: ['desk lamp', 'reading lamp', 'clip lamp'],
    qualities: [
      ['dimmable', 'warm white', 'LED'],
      ['adjustable', 'rechargeable', 'slim'],
    ],
    uses: ['late reading', 'drawing', 'video calls', 'a narrow shelf'],
    price: [12, 159],
  },
  {
    id: 'chairs',
    name: 'Office chairs',
    parent: 'desk',
    nouns: ['office chair', 'stool', 'desk chair'],
    qualities: [
      ['mesh', 'leather', 'breathable'],
      ['ergonomic', 'adjustable', 'swivel'],
    ],
    uses: ['eight hours at a desk', 'a shared office', 'tall people', 'a home studio'],
    price: [59, 749],
  },
  {
    id: 'backpacks',
    name: 'Backpacks',
    parent: 'outdoor',
    nouns: ['backpack', 'daypack', 'rucksack'],
    qualities: [
      ['waterproof', 'lightweight', 'padded'],
      ['rolltop', 'hiking', 'commuter'],
    ],
    uses: ['a day in the hills', 'a laptop and lunch', 'weekend trips', 'cycling to work'],
    price: [24, 239],
  },
  {
    id: 'tents',
    name: 'Tents',
    parent: 'outdoor',
    nouns: ['tent', 'tarp tent', 'family tent'],
    qualities: [
      ['lightweight', 'waterproof', 'four-season'],
      ['two-person', 'freestanding', 'pop-up'],
    ],
    uses: ['a windy ridge', 'festivals', 'cycle touring', 'a garden night'],
    price: [49, 689],
  },
  {
    id: 'shoes',
    name: 'Running shoes',
    parent: 'outdoor',
    nouns: ['running shoes', 'trail shoes', 'trainers'],
    qualities: [
      ['cushioned', 'stability', 'wide'],
      ['lightweight', 'waterproof', 'breathable'],
    ],
    uses: ['a first marathon', 'muddy trails', 'road and gym', 'walking all day'],
    price: [39, 219],
  },
  {
    id: 'bottles',
    name: 'Bottles',
    parent: 'kitchen',
    nouns: ['water bottle', 'flask', 'travel mug'],
    qualities: [
      ['insulated', 'steel', 'foldable'],
      ['leakproof', 'lightweight', 'wide-mouth'],
    ],
    uses: ['hot tea at noon', 'the gym', 'a school bag', 'long hikes'],
    price: [8, 59],
  },
  {
    id: 'kettles',
    name: 'Kettles',
    parent: 'kitchen',
    nouns: ['kettle', 'gooseneck kettle', 'tea kettle'],
    qualities: [
      ['electric', 'cordless', 'variable temperature'],
      ['steel', 'glass', 'quiet'],
    ],
    uses: ['pour-over coffee', 'green tea', 'a busy kitchen', 'a small flat'],
    price: [19, 179],
  },
  {
    id: 'coffee',
    name: 'Coffee makers',
    parent: 'kitchen',
    nouns: ['coffee maker', 'espresso machine', 'coffee grinder'],
    qualities: [
      ['automatic', 'manual', 'programmable'],
      ['compact', 'steel', 'quiet'],
    ],
    uses: ['a slow morning', 'an office of six', 'strong espresso', 'filter coffee for two'],
    price: [29, 899],
  },
  {
    id: 'lights',
    name: 'Bicycle lights',
    parent: 'outdoor',
    nouns: ['bicycle light', 'front light', 'rear light'],
    qualities: [
      ['rechargeable', 'LED', 'magnetic'],
      ['waterproof', 'bright', 'compact'],
    ],
    uses: ['dark lanes', 'commuting in winter', 'night rides', 'city traffic'],
    price: [9, 139],
  },
];

/** The category of each kind. */
export const DEPARTMENTS: Readonly<Record<string, string>> = {
  audio: 'Audio',
  desk: 'Desk and office',
  outdoor: 'Outdoor and sport',
  kitchen: 'Kitchen',
};
