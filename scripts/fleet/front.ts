import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import { localhostCertificate } from '../../test/support/certificates.ts'

/** A self-signed certificate for localhost, valid in January 2025 only. */
const expiredCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTAK8uyHPd0woYMax
uOk1M2igLEVhrVnzYoP+YWtTInOhRANCAARFhVUyRE4yfpTURUgTwa8LcxWvJz9R
ezov8Lk6eFYGf2z3ynKE76Rj2isyDEeU4vOQwhqmXzj/VhCiZQ/CZCdZ
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBUjCB+qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
dDAeFw0yNTAxMDEwMDAwMDBaFw0yNTAyMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxv
Y2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEWFVTJETjJ+lNRFSBPB
rwtzFa8nP1F7Oi/wuTp4VgZ/bPfKcoTvpGPaKzIMR5Ti85DCGqZfOP9WEKJlD8Jk
J1mjPTA7MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQUHBYo
NTuCU7RbyrL/EBgmkCRVAkAwCgYIKoZIzj0EAwIDRwAwRAIgbo5P10zUTapfeJdB
DrzsEaxNt48E45JEOCFfx1EqCJICIHP0uGsvx3sY1YB8GGbhrOwa79hDBRoPaEvs
ayyvfKGc
-----END CERTIFICATE-----
`,
}

/** Both certificates. A program that trusts both gets `CERT_HAS_EXPIRED` from the second. */
export const trusted = localhostCertificate.cert + expiredCertificate.cert

/** Terminates TLS before a server, as a load balancer does. Its certificate can expire and be replaced. */
export const openFront = async (target: string) => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let refusals = 0
  const server = createServer(localhostCertificate, (client) => {
    const upstream = connect(Number(port), hostname)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => sockets.delete(one) && other.destroy())
      one.pipe(other)
    }
  })
  server.on('tlsClientError', () => {
    refusals += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const destroySockets = () => sockets.forEach((socket) => void socket.destroy())
  return {
    url: `https://localhost:${typeof address === 'object' ? address?.port : ''}`,
    /** The number of connections that a client gave up, because it does not accept the certificate. */
    refusals: () => refusals,
    /** Replaces the certificate, and closes all connections. */
    setExpired(isExpired: boolean): void {
      server.setSecureContext(isExpired ? expiredCertificate : localhostCertificate)
      destroySockets()
    },
    close(): void {
      server.close()
      destroySockets()
    },
  }
}
