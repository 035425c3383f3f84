import type { Surface } from '../mistake.js';

export const COMMANDS: Surface = {
  title: 'Commands',
  mistakes: [
    { what: 'A misspelt command', run: 'validat' },
    { what: 'A misspelt flag', run: 'validate --jsn' },
    { what: 'A project that does not exist', run: 'validate --project ./nowhere' },
    { what: 'A time limit without --connect', run: 'validate --timeout 2s' },
    { what: 'Schemas without --write', run: 'schemas' },
    { what: 'The plan of a pipeline that does not exist', run: 'plan serach' },
    {
      what: 'A port in the environment that is not a number',
      run: 'validate',
      env: { PORT: 'http' },
    },
    { what: 'A misspelt variable', run: 'validate', env: { MILLRACE_STOR: 'redis' } },
    ...(['serve --port 0', 'entities load product products.jsonl', 'rank next --all true'] as const).map(
      (run) => ({
        what: `A project that names no store, without Redis: ${run.split(' ')[0] ?? ''}`,
        edit: ['millrace.yaml', 'store: embedded\n', ''] as const,
        run,
        env: { REDIS_URL: 'redis://127.0.0.1:1' },
      }),
    ),
    { what: 'Entities of an unknown type', run: 'entities load prodct products.jsonl' },
    { what: 'Entities of a file that does not exist', run: 'entities load product catalogue.jsonl' },
    {
      what: 'Entities by a key that the rows do not have',
      run: 'entities load product products.jsonl --key sku',
    },
    {
      what: 'A file of a format that is not known',
      files: { 'products.xlsx': 'PK' },
      run: 'entities load product products.xlsx',
    },
    {
      what: 'A row that is not JSON',
      files: { 'bad.jsonl': '{"product_id":"p1"}\n{"product_id":\n' },
      run: 'entities load product bad.jsonl',
    },
    {
      what: 'An attribute of the wrong type',
      files: { 'bad.jsonl': '{"product_id":"p1","price":"cheap"}\n' },
      run: 'entities load product bad.jsonl',
    },
    { what: 'Rows of a view that does not exist', run: 'features load product_stat products.jsonl' },
    {
      what: 'Rows without the key of their view',
      files: { 'rows.jsonl': '{"id":"p1","ctr_30d":0.1}\n' },
      run: 'features load product_stats rows.jsonl',
    },
    {
      what: 'A request to a pipeline that does not exist',
      files: { 'request.json': '{}' },
      run: 'rank serach request.json',
    },
    { what: 'A request file that does not exist', run: 'rank search request.json' },
    {
      what: 'A service that does not run',
      files: { 'request.json': '{"candidates":[]}' },
      run: 'rank search request.json --url http://127.0.0.1:1',
    },
    { what: 'A rollback of a service that does not run', run: 'rollback --url http://127.0.0.1:1' },
    { what: 'Judgments that do not exist', run: 'evaluate search --judgments judgment.csv' },
    {
      what: 'Judgments without a column of grades',
      files: { 'judgments.csv': 'query,product_id\ntv,p1\n' },
      run: 'evaluate search --judgments judgments.csv',
    },
    {
      what: 'A grade that is a word',
      files: { 'judgments.csv': 'query,product_id,grade\ntv,p1,good\n' },
      run: 'evaluate search --judgments judgments.csv',
    },
    {
      what: 'A metric that does not exist',
      run: 'evaluate search --judgments judgments.csv --metrics ndgc@10',
    },
    {
      what: 'A condition that cannot be read',
      run: 'evaluate search --judgments judgments.csv --require ndcg@10>>0.5',
    },
    { what: 'Nothing to tune', run: 'tune next --judgments judgments.csv' },
    { what: 'Tuning without judgments', run: 'tune search' },
    { what: 'A data set that does not exist', run: 'train search:relevance --data data-set --out model.txt' },
    { what: 'A step that is no model', run: 'train search:text --data data-set --out model.txt' },
    { what: 'A data set of a ledger that does not exist', run: 'dataset build --ledger logs --out data-set' },
    { what: 'A split that cannot be read', run: 'dataset build --ledger logs --out data-set --split 80/20' },
    {
      what: 'A grade that is a word, of a kind of feedback',
      run: 'dataset build --ledger logs --out data-set --label click=high',
    },
    { what: 'A key without scopes', run: 'keys create shop' },
    { what: 'A scope that does not exist', run: 'keys create shop --scope ranking --keys-file keys.json' },
    { what: 'Keys without a file', run: 'keys list' },
    { what: 'A key that does not exist', run: 'keys revoke shop --keys-file keys.json' },
    { what: 'The records of a ledger that does not exist', run: 'ledger cat logs' },
    {
      what: 'A pipeline to compare that does not exist',
      files: { 'requests.jsonl': '{"candidates":[{"product_id":"p1"}]}\n' },
      run: 'diff search nxt --requests requests.jsonl',
    },
    { what: 'Requests to compare that do not exist', run: 'diff search next --requests requests.jsonl' },
    {
      what: 'Statistics of a path that does not exist',
      run: 'text-stats product.titel --from products.jsonl',
    },
    { what: 'An entity to forget of an unknown type', run: 'store forget usr u1' },
  ],
};
