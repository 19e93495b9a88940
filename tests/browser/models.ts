// Small models with their manifests, made by the same code as the tests of ingot-infer use.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, type Api, type Made } from './fixtures'

const root = resolve(__dirname, '../..')

export interface ModelFiles {
  onnx: Buffer
  manifest: Buffer
}

/** All files of a model, by the name of the function in tests/infer/predict_models.py. */
export function allFiles(maker: string): Record<string, Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'ingot-model-'))
  try {
    const code = `import sys, pathlib; sys.path.insert(0, ${JSON.stringify(join(root, 'tests/infer'))}); import predict_models; predict_models.${maker}(pathlib.Path(${JSON.stringify(folder)}))`
    execFileSync(join(root, '.cache/venv/bin/python'), ['-c', code], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
    return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function modelFiles(maker: string): ModelFiles {
  const { 'model.onnx': onnx, 'ingot-model.json': manifest } = allFiles(maker)
  if (!onnx || !manifest) throw new Error(`${maker} makes no model of one part`)
  return { onnx, manifest }
}

export async function put(api: Api, version: string, path: string, data: Buffer): Promise<void> {
  const answer = await api.context.put(`/api/v1/${version}/content?path=${encodeURIComponent(path)}`, { data, headers: { 'Content-Type': 'application/octet-stream' } })
  expect(answer.ok(), await answer.text()).toBe(true)
}

/** A model set with so many versions of the same model. */
export async function modelSet(api: Api, project: Made, name: string, maker: string, count: number): Promise<{ set: Made; versions: Made[] }> {
  const { onnx, manifest } = modelFiles(maker)
  const set = await api.create('model-sets', { project: project.id, name })
  const versions: Made[] = []
  for (let i = 0; i < count; i += 1) {
    const version = await api.create(`model-sets/${set.id}/versions`, {})
    const path = `model-sets/${set.id}/versions/${version.id}`
    await put(api, path, 'model.onnx', onnx)
    await put(api, path, 'ingot-model.json', manifest)
    versions.push(version)
  }
  return { set, versions }
}
