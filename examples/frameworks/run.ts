import { fileURLToPath } from 'node:url'

/** Whether the module at this address is the program itself, and not imported by a test. */
export const isProgram = (moduleUrl: string): boolean => process.argv[1] === fileURLToPath(moduleUrl)

/** The secret shared with the sender, from the environment. */
export const secretOfEnvironment = (): string => process.env.NOTIFICATION_SECRET ?? 'a-secret-for-trying-out'

/** The port to listen on, from the environment. */
export const portOfEnvironment = (): number => Number(process.env.PORT ?? 3000)
