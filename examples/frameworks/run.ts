import { fileURLToPath } from 'node:url'

/** Whether the module at this URL was started as a program, and not imported by a test. */
export const isProgram = (moduleUrl: string): boolean => process.argv[1] === fileURLToPath(moduleUrl)

/** Returns the secret shared with the sender, from the environment. */
export const secretOfEnvironment = (): string => process.env.NOTIFICATION_SECRET ?? 'a-secret-for-trying-out'

/** Returns the port to listen on, from the environment. */
export const portOfEnvironment = (): number => Number(process.env.PORT ?? 3000)
