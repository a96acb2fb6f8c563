#!/usr/bin/env node
import { run } from './cli/run.ts'

// The reader of a pipe may leave, for example `head`. The server goes on, and its lines are dropped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

process.exitCode = await run(process.argv.slice(2))
