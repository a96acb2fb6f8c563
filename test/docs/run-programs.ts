import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Worker } from 'node:worker_threads'

// Usage: run-programs.ts <report> <file>…
// Runs each file as a program of its own, all in one process, and writes to the report, as JSON, how each ended.

/** How one program ended. */
export interface ProgramResult {
  readonly ended: 'well' | 'with an error' | 'not within its time'
  readonly output: string
}

const TIME_LIMIT = 20_000

const [report = '', ...files] = process.argv.slice(2)

function runProgram(file: string): Promise<ProgramResult> {
  const worker = new Worker(resolve(file), { stdout: true, stderr: true })
  let output = ''
  for (const stream of [worker.stdout, worker.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  }
  return new Promise((settle) => {
    const limit = setTimeout(() => {
      settle({ ended: 'not within its time', output })
      void worker.terminate()
    }, TIME_LIMIT)
    let failure = ''
    worker.on('error', (error: unknown) => {
      failure = String(error instanceof Error ? error.stack : error)
    })
    worker.on('exit', (code) => {
      clearTimeout(limit)
      const failed = failure !== '' || code !== 0
      settle({ ended: failed ? 'with an error' : 'well', output: output + failure })
    })
  })
}

const results: Record<string, ProgramResult> = {}
for (const file of files) results[file] = await runProgram(file)
writeFileSync(report, JSON.stringify(results))
