import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ConsumerProject, repository } from './project.ts'

let consumer: ConsumerProject
let command = ''

beforeAll(async () => {
  consumer = await ConsumerProject.withPackage(inject('tarball'))
  command = join(consumer.folder, 'node_modules/.bin/mandatekit')
})

afterAll(() => consumer.remove())

test('the installed command says its version and how it is used', async () => {
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))
  expect(await consumer.run(command, '--version')).toEqual({ exitCode: 0, output: `${version}\n` })
  expect(await consumer.run('npx', '--no', '--', 'mandatekit', '--help')).toEqual({
    exitCode: 0,
    output: expect.stringContaining('Usage: mandatekit mock'),
  })
})

test('the installed command serves both areas and the panel, and ends when it is interrupted', async () => {
  const child = spawn(command, ['mock', '--port', '0'], { cwd: consumer.folder })
  try {
    let printed = ''
    child.stdout.setEncoding('utf8')
    for await (const text of child.stdout) {
      printed += text
      if (printed.includes('Stop it with Ctrl-C.')) break
    }
    const url = /^ +both APIs +(\S+)$/m.exec(printed)?.[1]
    expect((await fetch(`${url}/health`)).status).toBe(200)
    expect(await (await fetch(`${url}/_mock`)).text()).toContain('Mock control panel')
    const ended = once(child, 'close')
    child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
  } finally {
    child.kill('SIGKILL')
  }
})
