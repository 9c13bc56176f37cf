/**
 * A TCP relay on loopback between client and server, which a test can cut.
 *
 * This module owns the connections. It counts the bytes that it forwards and does not interpret them.
 */
import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";

import { url } from "./server.js";

export class FaultyLine {
  /** Cuts that were made: a test asserts that its fault came. */
  cuts = 0;
  #bytesLeft = Infinity;
  #swallowsAnswer = false;
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly relay: Server) {}

  static async open(): Promise<FaultyLine> {
    const relay = createServer();
    const line = new FaultyLine(relay);
    relay.on("connection", (near) => line.#join(near));
    relay.listen(0, "127.0.0.1");
    await once(relay, "listening");
    return line;
  }

  /** The server's address by this line. */
  get url(): string {
    return `http://127.0.0.1:${(this.relay.address() as AddressInfo).port}`;
  }

  /** Cut the connection on which the server answers next, in place of its answer. */
  swallowNextAnswer(): void {
    this.#swallowsAnswer = true;
  }

  /** Cut once, after so many more bytes from the server. */
  cutAfter(bytes: number): void {
    this.#bytesLeft = bytes;
  }

  cutAll(): void {
    this.cuts++;
    this.#sockets.forEach((socket) => socket.destroy());
  }

  close(): void {
    this.#sockets.forEach((socket) => socket.destroy());
    this.relay.close();
  }

  #join(near: Socket): void {
    const { hostname, port } = new URL(url);
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on("data", (data: Buffer) => this.#pass(data, near));
    far.on("end", () => near.end());
  }

  #pass(data: Buffer, near: Socket): void {
    if (this.#swallowsAnswer) {
      this.#swallowsAnswer = false;
      this.#cut(near);
    } else if (data.length >= this.#bytesLeft) {
      near.write(data.subarray(0, this.#bytesLeft), () => this.#cut(near));
      this.#bytesLeft = Infinity;
    } else {
      this.#bytesLeft -= data.length;
      near.write(data);
    }
  }

  #cut(near: Socket): void {
    this.cuts++;
    near.resetAndDestroy();
  }
}
