import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { millrace, type CommandResult } from '../../../support/command-line.js';
import { withFiles } from '../../../support/temporary-files.js';

interface Guess {
  readonly key: { readonly name: string };
  readonly attributes: readonly { readonly name: string; readonly type: { readonly kind: string } }[];
  readonly features: readonly { readonly name: string }[];
  readonly undeclared: readonly string[];
  readonly left_out: readonly string[];
  readonly texts: readonly string[];
  readonly numbers: readonly {
    readonly name: string;
    readonly weight: number;
    readonly expression: string;
  }[];
  readonly products: number;
  readonly language?: string;
  readonly repeated: number;
  readonly refused: { readonly count: number };
  readonly unfit: Readonly<Record<string, { readonly count: number }>>;
}

interface Made {
  readonly guess: Guess;
  readonly pipeline: string;
  /** Of the attributes, by name. */
  readonly types: Readonly<Record<string, string>>;
  readonly entities: readonly Readonly<Record<string, unknown>>[];
}

/** Makes a project from a file, checks that it is valid, and returns what was guessed. */
async function make(file: string, content: string, ...more: readonly string[]): Promise<Made> {
  return await withFiles({ [file]: content }, async (root) => {
    const shop = join(root, 'shop');
    const made = await millrace(['init', shop, '--from', join(root, file), '--no-git', '--json', ...more]);
    expect(made.code, made.stderr).to.equal(0);
    const valid = await millrace(['validate', '--project', shop]);
    expect(valid.code, valid.stdout + valid.stderr).to.equal(0);
    expect(valid.stdout + valid.stderr).not.to.contain('warning');
    const guess = JSON.parse(made.stdout) as Guess;
    const lines = await readFile(join(shop, 'rows', 'product.jsonl'), 'utf8');
    return {
      guess,
      pipeline: await readFile(join(shop, 'pipelines', 'search.yaml'), 'utf8'),
      types: Object.fromEntries(guess.attributes.map(({ name, type }) => [name, type.kind])),
      entities: lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    };
  });
}

/** What `init` says about a file that it cannot use. */
async function refusal(file: string, content: string | Buffer, ...more: string[]): Promise<CommandResult> {
  return await withFiles({ [file]: content }, (root) =>
    millrace(['init', join(root, 'shop'), '--from', join(root, file), '--no-git', ...more]).then((ran) => ({
      ...ran,
      stderr: ran.stderr.replaceAll(`${root}/`, ''),
    })),
  );
}

describe('millrace init: what it guesses', () => {
  it('reads semicolons, decimal commas, quotes and a byte order mark, and keeps leading zeros', async () => {
    const { guess, types, entities } = await make(
      'p.csv',
      '\uFEFFsku;title;price;stock\r\n00417;"Shoe; ""red""";12,50;3\r\n00018;Boot;1.299,00;0\r\n',
    );
    expect(guess.key).to.deep.include({ name: 'sku', why: 'leading zeros' });
    expect(types).to.deep.equal({ title: 'string', price: 'float', stock: 'int' });
    expect(entities).to.deep.equal([
      { sku: '00417', title: 'Shoe; "red"', price: 12.5, stock: 3 },
      { sku: '00018', title: 'Boot', price: 1299, stock: 0 },
    ]);
  });

  // The same columns in several languages; the texts too.
  for (const [language, header, title, description] of [
    [
      'german',
      'Artikelnummer;Bezeichnung;Beschreibung;Hersteller;Warengruppe;Verkaufspreis;Lagerbestand;Bewertung;Verkäufe;Erscheinungsdatum',
      'Laufschuh für Damen',
      'Ein leichter Schuh für die Straße und den Wald, mit Dämpfung',
    ],
    [
      'french',
      'Référence;Désignation;Description;Marque;Catégorie;Prix TTC;En stock;Évaluation;Ventes;Date de sortie',
      'Chaussure de course pour femme',
      'Une chaussure légère pour la route et les chemins, avec un amorti',
    ],
    [
      'spanish',
      'Código;Nombre;Descripción;Fabricante;Categoría;Precio EUR;Existencias;Valoración;Ventas;Fecha lanzamiento',
      'Zapatilla para correr',
      'Una zapatilla ligera para la carretera y los caminos, con amortiguación',
    ],
    [
      'italian',
      'Codice articolo;Titolo;Descrizione;Produttore;Categoria;Prezzo;Giacenza;Valutazione;Vendite;Data uscita',
      'Scarpa da corsa per donna',
      'Una scarpa leggera per la strada e per i sentieri della montagna',
    ],
    [
      'english',
      'SKU;Title;Description;Brand;Category;Price;Stock;Rating;Orders;Released',
      'Running shoe for women',
      'A light shoe for the road and the trail, with cushioning',
    ],
  ] as const)
    it(`knows headers and texts that are ${language}`, async () => {
      const rows = Array.from({ length: 40 }, (_, at) =>
        [
          `00${at}`,
          `${title} ${at}`,
          description,
          ['Lumen', 'Nordwind'][at % 2],
          ['a', 'b'][at % 2],
          `${at},50`,
          at % 3,
          `4,${at % 9}`,
          at * 7,
          `2024-01-${10 + (at % 20)}`,
        ].join(';'),
      );
      const { guess, pipeline } = await make('p.csv', [header, ...rows, ''].join('\n'));
      expect(guess.texts.slice(0, 2)).to.have.length(2);
      expect(guess.texts).to.have.length(4);
      expect(guess.features).to.have.length(1);
      expect(guess.numbers.map(({ name }) => name))
        .to.have.length(4)
        .and.to.include('newness');
      expect(pipeline).to.contain('use: bury # out of stock');
      expect(guess.language).to.equal(language);
      if (language === 'english') expect(pipeline).not.to.contain('language:');
      else expect(pipeline.split(`\n      language: ${language} # `)).to.have.length(3);
    });

  it('reads yes and no in German', async () => {
    const { types, pipeline, entities } = await make(
      'p.csv',
      'Artikelnummer;Titel;Verfügbar\na;Schuh;ja\nb;Hose;nein\nc;Hemd;Ja\n',
    );
    expect(types).to.deep.equal({ titel: 'string', verfugbar: 'bool' });
    expect(entities.map(({ verfugbar }) => verfugbar)).to.deep.equal([true, false, true]);
    expect(pipeline).to.contain('where: not product.verfugbar');
  });

  it('knows the language of titles without a stop word', async () => {
    const things = ['Regenjacke', 'Laufschuh', 'Wanderhose', 'Schlafsack'];
    const colours = ['blau', 'grün', 'weiß', 'rot'];
    const rows = Array.from({ length: 16 }, (_, at) => `${things[at % 4]} ${colours[at >> 2]}`);
    const { guess, pipeline } = await make('p.csv', `Titel\n${rows.join('\n')}\n`);
    expect(guess.language).to.equal('german');
    expect(guess.key.name).to.equal('product_id');
    expect(pipeline).to.contain('language: german');
  });

  it('does not guess a language of models and numbers', async () => {
    const { guess, pipeline } = await make('p.csv', 'id,title\na,XPS 13 9310\nb,ThinkPad T14\n');
    expect(guess.language).to.equal(undefined);
    expect(pipeline).not.to.contain('language:');
  });

  it('takes one German header for the products and the judgments', () =>
    withFiles(
      {
        'p.csv': 'Artikelnummer;Bezeichnung\n0017;Schuh\n0018;Boot\n',
        'j.csv': 'Suchbegriff;Artikelnummer;Relevanz\nschuh;0017;3\n',
        'k.csv': 'Was;Artikelnummer;Wie\nschuh;0017;3\n',
      },
      async (root) => {
        for (const [judgments, ...more] of [['j.csv'], ['k.csv', '--columns', 'query=Was,grade=Wie']]) {
          const shop = join(root, `shop-${judgments ?? ''}`);
          const files = ['--from', join(root, 'p.csv'), '--judgments', join(root, judgments ?? '')];
          const made = await millrace(['init', shop, ...files, '--no-git', ...more]);
          expect(made.stdout, made.stderr).to.contain('1 query, 100 % of ids found');
        }
      },
    ));

  it('takes judgments whose column of ids has another name than that of the products', () =>
    withFiles(
      {
        'p.jsonl': '{"id":"p1","title":"shoe"}\n{"id":"p2","title":"boot"}\n',
        'usual.csv': 'query,product_id,grade\nshoe,p1,3\n',
        'own.csv': 'query,thing,grade\nshoe,p1,3\n',
      },
      async (root) => {
        const init = (folder: string, judgments: string, ...more: string[]): Promise<CommandResult> =>
          millrace([
            ...['init', join(root, folder), '--from', join(root, 'p.jsonl'), '--no-git'],
            ...['--judgments', join(root, judgments), ...more],
          ]);
        const found = '1 query, 100 % of ids found';
        const usual = await init('usual', 'usual.csv');
        expect(usual.stdout, usual.stderr).to.contain(found);
        const refused = await init('own', 'own.csv');
        const help = /--columns (\S+)/.exec(refused.stderr)?.[1] ?? '';
        expect(help, refused.stderr).to.equal('id=thing');
        for (const more of [
          ['--columns', help],
          ['--columns', help, '--key', 'id'],
        ]) {
          const own = await init(`own-${more.length}`, 'own.csv', ...more);
          expect(own.stdout, own.stderr).to.contain(found).and.to.contain('key id');
        }
      },
    ));

  it('prefers the number of an item to its barcode', async () => {
    const rows = Array.from({ length: 20 }, (_, at) => `${1000 + at}\tshoe ${at}\t${4000000000000 + at}`);
    const { guess } = await make('p.tsv', `item_no\titem_name\tean\n${rows.join('\n')}\n`);
    expect(guess.key.name).to.equal('item_no');
  });

  it('knows a German mean and the days of a count', async () => {
    const rows = Array.from(
      { length: 20 },
      (_, at) => `${1000 + at};Schuh ${at};${1 + (at % 5)},5;${at * 7}`,
    );
    const { guess } = await make(
      'p.csv',
      `Artikelnummer;Bezeichnung;Ø Bewertung;Verkäufe 30 Tage\n${rows.join('\n')}\n`,
    );
    expect(guess.numbers.map(({ weight }) => weight))
      .to.have.length(2)
      .and.not.to.include(0);
  });

  it('takes what the user says of columns, before what their names say', async () => {
    const { guess, types, pipeline } = await make(
      'p.csv',
      'Nr,Title,Was,EK,Menge\n1,x,Schuh rot,1.5,3\n2,y,Schuh blau,2.5,0\n',
      '--columns',
      'id=Nr,title=Was,price=EK,stock=Menge',
    );
    expect(guess.key.name).to.equal('nr');
    expect(guess.texts[0]).to.equal('was');
    expect(guess.numbers.map(({ name }) => name)).to.deep.equal(['ek']);
    expect(pipeline).to.contain('where: product.menge <= 0');
    expect(types).to.deep.equal({ title: 'string', was: 'string', ek: 'float', menge: 'int' });
  });

  for (const [columns, message] of [
    ['id=Nrr', 'has no column Nrr (id); it has Nr, Was\nhelp: did you mean Nr?'],
    ['sku=Nr', 'expected id=NAME, title=NAME, description=NAME'],
    ['id', 'separated by commas; found id'],
  ] as const)
    it(`refuses --columns ${columns}`, async () => {
      const { code, stderr } = await refusal('p.csv', 'Nr,Was\n1,Schuh\n', '--columns', columns);
      expect(code).not.to.equal(0);
      expect(stderr).to.contain(message);
    });

  it('reads tabs, and commas that group thousands', async () => {
    const { entities } = await make('p.tsv', 'id\tname\tprice\na\tShoe\t1,299.50\nb\tBoot\t90\n');
    expect(entities.map(({ price }) => price)).to.deep.equal([1299.5, 90]);
  });

  it('tells types apart: dates, booleans, nulls, huge numbers, codes, mixed values', async () => {
    const rows = Array.from({ length: 60 }, (_, at) => ({
      id: `p${at}`,
      title: `thing ${at}`,
      day: `2026-01-${String((at % 28) + 1).padStart(2, '0')}`,
      millis_at: 1_700_000_000_000 + at,
      flag: at % 2 === 0 ? 'yes' : 'no',
      real: at % 2 === 0,
      nothing: null,
      huge: at === 0 ? 1e305 : 1,
      long: `9007199254740993${at}`,
      ean: 4_006_381_333_931 + at,
      mixed: at % 2 === 0 ? 7 : 'seven',
      nearly: at === 7 ? 'unknown' : at,
      year: 1990 + (at % 30),
      NA: at === 3 ? 'n/a' : String(at),
    }));
    const { types, guess, entities } = await make(
      'p.jsonl',
      rows.map((row) => JSON.stringify(row)).join('\n'),
    );
    expect(types).to.deep.equal({
      title: 'string',
      day: 'timestamp',
      millis_at: 'timestamp',
      flag: 'bool',
      real: 'bool',
      huge: 'string',
      long: 'string',
      ean: 'string',
      mixed: 'string',
      nearly: 'int',
      year: 'int',
      na: 'int',
    });
    expect(guess.unfit).to.deep.equal({ nearly: { count: 1, first: 'unknown' } });
    expect(entities[7]).not.to.have.property('nearly');
    expect(entities[3]).not.to.have.property('na');
    expect(entities[1]).to.include({ flag: false, mixed: 'seven', ean: '4006381333932' });
  });

  it('gives every column a valid name of its own, whatever it is called', async () => {
    const { entities } = await make(
      'p.csv',
      'id,Größe,価格,in,and,a b,a-b,2nd,product_id,score,now,constructor,__proto__\n' +
        'x,1,2,3,4,5,6,7,8,9,10,11,12\ny,2,3,4,5,6,7,8,9,10,11,12,13\n',
    );
    expect(Object.keys(entities[0] ?? {})).to.have.members([
      ...['id', 'grosse', 'column_3', 'in_value', 'and_value', 'a_b', 'a_b_2', 'n_2nd'],
      ...['product_id', 'score', 'now', 'constructor', 'proto'],
    ]);
  });

  it('declares at most 150 of many columns, and stores all', async () => {
    const names = Array.from({ length: 200 }, (_, at) => `c${at}`);
    const { guess, entities } = await make(
      'p.csv',
      `id,${names.join(',')}\n${['a', 'b'].map((id) => `${id},${names.map(() => 'x').join(',')}`).join('\n')}\n`,
    );
    expect(guess.attributes).to.have.length(150);
    expect(guess.undeclared).to.have.length(50);
    expect(Object.keys(entities[0] ?? {})).to.have.length(201);
  });

  it('makes references of brands and of ids of other things, but not of texts that differ', async () => {
    const rows = Array.from({ length: 90 }, (_, at) =>
      [`p${at}`, `n ${at}`, `b${at % 7}`, at % 5, `cat ${at % 5}`, `v${at}`].join(','),
    );
    const { types } = await make('p.csv', `id,name,brand,category_id,category,vendor\n${rows.join('\n')}\n`);
    expect(types).to.include({ brand: 'ref', category: 'ref', category_name: 'string', vendor: 'string' });
  });

  it('reads nested objects, lists of objects, lists of texts and vectors', async () => {
    const rows = [1, 2, 3].map((at) => ({
      id: at,
      info: { name: `shoe ${at}`, brand: 'b', price: { amount: at } },
      price: { amount: 10 * at, currency: 'EUR' },
      variants: [{ sku: `s${at}`, stock: at }],
      tags: at === 1 ? [] : ['a', 'b'],
      embedding: [0.1, 0.2, 0.3, at],
      odd: at === 1 ? [1] : ['x', { y: 1 }],
    }));
    const { types, guess } = await make('p.json', JSON.stringify(rows));
    expect(types).to.deep.equal({
      info: 'record',
      price: 'record',
      variants: 'records',
      tags: 'texts',
      embedding: 'vector',
    });
    expect(guess.undeclared).to.deep.equal(['odd']);
    expect(guess.left_out).to.deep.equal(['info.price']);
    expect(guess.texts[0]).to.equal('info_name');
    expect(guess.numbers.map(({ expression }) => expression)).to.deep.equal([
      'log1p(product.price.amount) / 3.43',
    ]);
  });

  it('searches all texts that have words, and no codes, addresses, states or texts that few products have', async () => {
    const at = (list: readonly string[], row: number): string => list[row % list.length] ?? '';
    const rows = Array.from({ length: 40 }, (_, row) => ({
      id: `p${row}`,
      product_name: `thing number ${row}`,
      product_class: at(['Sofas', 'Beds'], row),
      'category hierarchy': at(['Furniture / Sofas', 'Furniture / Beds'], row),
      product_description: 'A long text about the thing',
      brand: at(['Lumen', 'Nordwind', 'Arco'], row),
      colour: row % 3 === 0 ? at(['red', 'blue'], row) : undefined,
      材質: at(['木材', '綿'], row),
      styles: [at(['T-Shirt', 'Hoodie'], row)],
      // No words, or nothing that tells products apart.
      image: `https://img.example.com/big/thing_${row}.jpg`,
      photo_file: `/photos/thing_${row}.jpg`,
      model_number: `AB-${row}X`,
      part: `XR${row}`,
      eans: [`40063813339${row}`],
      status: at(['active', 'paused'], row),
      season: 'all year',
      engraving: row === 3 ? 'for my mother' : undefined,
    }));
    const { guess, pipeline } = await make('p.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'));
    expect(guess.texts).to.deep.equal([
      ...['product_name', 'product_description', 'brand'],
      ...['product_class', 'category_hierarchy', 'column_7', 'styles', 'colour'],
    ]);
    expect(pipeline).to.contain('        product.product_name: 3\n        product.product_description: 1\n');
  });

  it('puts statistics into a view', async () => {
    const { guess, entities } = await make(
      'p.csv',
      'product_id,title,ctr_30d,orders_30d,field_of_view\na,x y,0.5,3,120\nb,z w,0.25,90,90\n',
    );
    expect(guess.features.map(({ name }) => name)).to.deep.equal(['ctr_30d', 'orders_30d']);
    expect(guess.numbers.map(({ name }) => name)).to.include.members(['ctr_30d', 'orders_30d']);
    expect(entities[0]).to.deep.equal({ product_id: 'a', title: 'x y', field_of_view: 120 });
  });

  it('counts rows that repeat an id, and leaves out rows without one', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => `${at === 5 ? '' : `p${at % 30}`},t ${at}`);
    const { guess } = await make('p.csv', `sku,title\n${rows.join('\n')}\n`);
    expect(guess).to.include({ products: 39, repeated: 9 });
    expect(guess.refused.count).to.equal(1);
  });

  it('works with one column, and with one row', async () => {
    const { guess } = await make('p.csv', 'id\na\nb\n');
    expect(guess.key.name).to.equal('id');
    expect(guess.attributes).to.deep.equal([]);
    expect((await make('p.csv', 'sku,name\n1,a\n')).guess.products).to.equal(1);
  });

  it('says why a file is no catalogue', async () => {
    const told = async (file: string, content: string | Buffer, ...more: string[]): Promise<string> => {
      const { code, stderr } = await refusal(file, content, ...more);
      expect(code).to.equal(1);
      return stderr;
    };
    expect(await told('p.csv', '')).to.equal('error: p.csv has no rows\n');
    expect(await told('p.csv', 'id,title\n')).to.equal('error: p.csv has no rows\n');
    expect(await told('p.csv', 'id,size\nred,1.5\nred,1.5\nred,2.5\nred,1.5\n')).to.equal(
      'error: the column id of p.csv does not identify a product: too many rows repeat a value, or have none\n' +
        'help: name the column of the id: --key COLUMN\n',
    );
    expect(await told('p.csv', 'id,title\na,b\n', '--key', 'idd')).to.equal(
      'error: p.csv has no column idd (id); it has id, title\nhelp: did you mean id?\n',
    );
    expect(await told('p.csv', 'id,id\na,b\n')).to.equal('error: line 1: the header names "id" twice\n');
    expect(await told('p.jsonl', '[1]\n')).to.equal(
      'error: p.jsonl has no row that can be read: line 1: expected a JSON object, found a list\n',
    );
    const ofExcel = Buffer.from('sku;titel\na;für\nb;süß\n', 'latin1');
    expect(await told('p.csv', ofExcel)).to.equal(
      'error: p.csv has no row that can be read: line 2: not encoded in UTF-8\n' +
        'help: save it as "CSV UTF-8", or convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > utf8.csv\n',
    );
    expect(await told('p.csv', Buffer.from('sku;Größe\na;1\n', 'latin1'))).to.contain(
      'line 1: not encoded in UTF-8\nhelp: save it',
    );
  });
});
