import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { millrace } from '../../../support/command-line.js';
import { writeProject } from '../../../support/project.js';

const PIPELINE = (name: string, value: string): string => `pipeline: ${name}
rank: product
request: { candidates: {}, query: optional(string) }
components:
  - { use: score, with: { value: "${value}" } }
`;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

describe('the pages of evaluate and diff', () => {
  let root = '';
  let server: Server;
  let store: string[] = [];
  const asked: string[] = [];
  before(async () => {
    server = createServer(({ url = '' }, res) => {
      asked.push(url);
      if (url === '/moved.png') res.writeHead(302, { location: '/1.png' }).end();
      else if (url === '/page.png') res.writeHead(200, { 'content-type': 'text/html' }).end('<script>');
      else if (url === '/large.png')
        res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(600_000));
      else res.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const images = ['1.png', 'moved.png', 'page.png', 'large.png'];
    root = await writeProject({
      'millrace.yaml': `project: shop\nimage_hosts: ["${host}"]\n`,
      'schemas/entities/product.yaml':
        'entity: product\ndisplay: { title: title, image: image }\nattributes: { title: string, image: string, price: float }\n',
      'pipelines/dear.yaml': PIPELINE('dear', 'product.price'),
      'pipelines/cheap.yaml': PIPELINE('cheap', '0 - product.price'),
      'products.jsonl': images
        .map((name, at) => ({
          product_id: `p${at}`,
          title: `<b>Shoe ${at}</b>`,
          price: at,
          image: `http://${host}/${name}`,
        }))
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
      'judgments.csv': 'query,id,grade\nshoe,p0,3\nshoe,p1,0\nshoe,p2,0\nshoe,p3,0\n',
      'requests.jsonl': `${JSON.stringify({ query: 'boots', candidates: [0, 1, 2, 3].map((at) => ({ product_id: `p${at}` })) })}\n`,
    });
    store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'store')];
    await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
  });
  after(async () => {
    server.close();
    await rm(root, { recursive: true });
  });

  it('hold the gate, the worst queries with both pages, titles, grades, and images in the file', async () => {
    const html = join(root, 'evaluate.html');
    const { stderr, code } = await millrace([
      ...['evaluate', 'dear', '--against', 'cheap', '--judgments', join(root, 'judgments.csv')],
      ...['--require', 'ndcg@10 > 0.9', '--html', html, ...store],
    ]);
    expect(code).to.equal(1);
    expect(stderr).to.contain('warning: 3 images could not be loaded and are left out');
    const page = await readFile(html, 'utf8');
    expect(page).to.contain('<li class="fail"><b>FAIL</b> ndcg@10 &gt; 0.9, found 0.4307</li>');
    expect(page).to.contain('<h2>Pages of the worst-lost queries</h2>').and.contain('<h3>shoe</h3>');
    expect(page.indexOf('<h4>cheap</h4>')).to.be.lessThan(page.indexOf('<h4>dear</h4>'));
    expect(page).to.contain('&lt;b&gt;Shoe 0&lt;/b&gt; <span class="grade">grade 3</span>');
    expect(page.match(/<img alt="" src="data:image\/png;base64,iVBORw0KGgo=">/g)).to.have.length(2);
    expect(page).not.to.match(/https?:|<script|<b>Shoe/);
    expect(page).to.contain('img-src data:');
    expect(asked).to.include.members(['/moved.png', '/page.png']);
    expect(asked.filter((url) => url === '/1.png')).to.have.length(1);
  });

  it('of diff name what was searched', async () => {
    const html = join(root, 'diff.html');
    await millrace([
      'diff',
      'dear',
      'cheap',
      '--requests',
      join(root, 'requests.jsonl'),
      '--html',
      html,
      ...store,
    ]);
    const page = await readFile(html, 'utf8');
    expect(page).to.contain('<h2>Pages with the largest differences</h2>');
    expect(page).to.contain('<h3>line 1: boots</h3>').and.contain('<h4>A dear</h4>');
  });
});
