import { execFileSync } from 'node:child_process'

/** Returns whether a test is skipped because a program is missing. Prints the reason. */
export const without = (program: string): boolean => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return false
  } catch {
    process.stderr.write(
      `Skipped: tests that run ${program}. Install it with: apt-get install -y ${program}\n`,
    )
    return process.env.MANDATEKIT_NO_SKIP !== '1'
  }
}
