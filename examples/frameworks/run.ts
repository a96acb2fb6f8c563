import { fileURLToPath } from 'node:url'

/** Returns true if the module at this URL is the started program, and false if a test imported the module. */
export const isProgram = (moduleUrl: string): boolean => process.argv[1] === fileURLToPath(moduleUrl)

/** Reads `NOTIFICATION_SECRET`, the secret that you share with the sender. */
export const secretOfEnvironment = (): string => process.env.NOTIFICATION_SECRET ?? 'a-secret-for-trying-out'

/** Reads `PORT`, the port on which the server listens. */
export const portOfEnvironment = (): number => Number(process.env.PORT ?? 3000)
