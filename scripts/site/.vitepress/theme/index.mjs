import Theme from 'vitepress/theme';
import { h } from 'vue';
import './style.css';

/** The page of a wrong address has a `main` and links, which the page of the theme lacks. */
const notFound = () =>
  h('main', { class: 'vp-doc', style: 'padding: 3rem 1.5rem; max-width: 40rem; margin: auto' }, [
    h('h1', 'No such page'),
    h('p', ['Search above, or read the ', h('a', { href: '/' }, 'list of all pages'), '.']),
  ]);

export default { extends: Theme, Layout: () => h(Theme.Layout, null, { 'not-found': notFound }) };
