import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { plugin as categoryIndex } from '../../../../plugins/category_index/index.js';
import { plugin as lightgbm } from '../../../../plugins/lightgbm/index.js';
import { plugin as linear } from '../../../../plugins/linear/index.js';
import { plugin as xgboost } from '../../../../plugins/xgboost/index.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import type { Plugin } from '../../../../runtime/ground/api/plugin.js';
import { createComponent } from '../../../support/create-component.js';
import { FakeStep } from '../../../support/step-input.js';

/** The error for a file that an option names: the message, then the help. */
async function saidOf(plugin: Plugin, option: string, path: string, content: Buffer): Promise<string> {
  const options = {
    [option]: { path, content, version: '000000000000' },
    predict: 'raw',
    ...(plugin.name === 'xgboost' ? { iterations: 'best' } : {}),
    ...(plugin.name === 'category_index' ? { of: new FakeStep(0).text([]) } : {}),
  };
  try {
    await createComponent(plugin, options);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    expect(error.path).to.deep.equal([option]);
    return `${error.message}; ${error.help ?? ''}`;
  }
  return expect.fail('it was taken');
}

const pickle = Buffer.from('\x80\x04\x95\xf5\x14\0\0\0\0\0\0\x8c\x10lightgbm.sklearn', 'latin1');

const files: readonly (readonly [what: string, content: Buffer, message: string, help: string])[] = [
  ['an empty file', Buffer.alloc(0), 'it is empty', ''],
  ['a file of zeros', Buffer.alloc(64), 'it is empty', ''],
  [
    'a pointer of Git LFS',
    Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n'),
    'it is a pointer of Git LFS',
    'run: git lfs pull --include "models/m"',
  ],
  [
    'a pointer of DVC',
    Buffer.from('outs:\n- md5: 22a1\n  size: 3\n'),
    'it is a pointer of DVC',
    'run: dvc pull',
  ],
  [
    'a web page',
    Buffer.from('<!DOCTYPE html>\n<title>Sign in</title>'),
    'it is a web page',
    'download the file again',
  ],
  ['PMML', Buffer.from('<?xml version="1.0"?><PMML/>'), 'it is an XML file', 'with its own library'],
  ['a gzip file', gzipSync('tree\n'), 'it is compressed with gzip', 'run: gunzip "models/m"'],
  ['a zip archive', Buffer.from('PK\x03\x04', 'latin1'), 'it is a zip archive', 'unpack it'],
  ['a pickle', pickle, 'it is a Python pickle', 'import joblib; model = joblib.load("models/m"); '],
  [
    'a pickle of protocol 0',
    Buffer.from('ccopy_reg\n_reconstructor\np0\n'),
    'it is a Python pickle',
    'joblib.load',
  ],
  [
    'a compressed joblib file',
    Buffer.from('x^\xc5XK', 'latin1'),
    'compressed data, such as joblib writes',
    'joblib.load',
  ],
  [
    'a model of CatBoost',
    Buffer.from('CBM1\x10', 'latin1'),
    'it is a model of CatBoost',
    'CatBoost().load_model("models/m").save_model("model.onnx", format="onnx"); then write `use: onnx`',
  ],
  [
    'JSON of CatBoost',
    Buffer.from('{\n"features_info":{},\n"model_info":{},\n"oblivious_trees":[]}'),
    'it is a model of CatBoost as JSON',
    'load_model("models/m", format="json")',
  ],
  [
    'an ONNX model',
    Buffer.from('\x08\x08\x12\x07skl2onnx', 'latin1'),
    'it is an ONNX model',
    'write `use: onnx`',
  ],
  [
    "XGBoost's old binary format",
    Buffer.from('binf\0\0\0\x3f\x04', 'latin1'),
    'old binary format, which XGBoost removed in 3.1',
    'pip install "xgboost<3.1"; then in Python: import xgboost; xgboost.Booster(model_file="models/m").save_model("model.json")',
  ],
  [
    'the same of XGBoost 0.90, which has no mark',
    Buffer.from(
      `\0\0\0\x3f\x04${'\0'.repeat(131)}\x10${'\0'.repeat(7)}reg:squarederror\x06${'\0'.repeat(7)}gbtree\x02`,
      'latin1',
    ),
    'old binary format, which XGBoost removed in 3.1',
    'pip install "xgboost<3.1"',
  ],
  [
    'a text dump of XGBoost',
    Buffer.from('booster[0]:\n0:[f0<0.5] yes=1,no=2,missing=1\n'),
    'it is a text dump of XGBoost',
    'booster.save_model("model.json")',
  ],
];

describe('a file of another kind', () => {
  for (const [what, content, message, help] of files)
    it(`is named, with a remedy: ${what}`, async () => {
      for (const plugin of [lightgbm, xgboost]) {
        const said = await saidOf(plugin, 'model', 'models/m', content);
        expect(said).to.include(message);
        expect(said).to.include(help);
      }
    });

  it('is converted from a pickle by the library that reads it', async () => {
    expect(await saidOf(lightgbm, 'model', 'm.pkl', pickle)).to.include(
      'getattr(model, "booster_", model).save_model("model.txt")',
    );
    expect(await saidOf(xgboost, 'model', 'm.pkl', pickle)).to.include('model.save_model("model.json")');
  });

  it('sends files of XGBoost to the plugin that reads them', async () => {
    for (const content of [
      '[{"nodeid": 0, "leaf": 1}]',
      '["{ \\"nodeid\\": 0 }"]',
      '{L\0\0\0\0\0\0\0\x07learner{}}',
    ])
      expect(await saidOf(lightgbm, 'model', 'm', Buffer.from(content, 'latin1'))).to.include(
        'write `use: xgboost`',
      );
  });

  it('is also named where weights or a vocabulary were expected', async () => {
    const pointer = Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n');
    expect(await saidOf(linear, 'model', 'm.json', pointer)).to.include('`m.json` is a pointer of Git LFS');
    for (const path of ['v.csv', 'v.json'])
      expect(await saidOf(categoryIndex, 'file', path, pointer)).to.include(
        `\`${path}\` is a pointer of Git LFS`,
      );
  });
});
