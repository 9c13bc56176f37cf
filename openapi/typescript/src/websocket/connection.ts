/**
 * One WebSocket from its opening to its close: requests with their replies by id, and pushes by subscription.
 *
 * This module owns the socket. It never connects again (`session.ts` does), and it knows nothing of entries
 * and credit.
 */
import { type TailraceError, connectionLost, errorOfProblem, refusedHere, timedOut } from "../errors.js";
import { within } from "../waiting.js";
import { Inbox } from "./inbox.js";
import type { Hello, Message, Push, Reply, Request } from "./messages.js";
import { type SocketLike, failureToConnect, lossOf } from "./sockets.js";

export type Ok = Readonly<Record<string, unknown>>;

interface Awaited {
  resolve(ok: Ok): void;
  reject(error: TailraceError): void;
}

/**
 * Browsers hide the pings of the protocol. After this silence the client sends a request, and later ends the
 * connection.
 */
const PING_AFTER_MS = 15_000;
const GONE_AFTER_MS = 45_000;
/** A close code of the application, for a socket that this side closes. The peer may be gone. */
const PEER_GONE = 4000;

/** An open connection to the server. */
export class Connection {
  #loss: TailraceError | undefined;
  #hello: Hello | undefined;
  #lastId = 0;
  #heardAt = Date.now();
  #greeted: (hello: Hello) => void = () => undefined;
  #refused: (loss: TailraceError) => void = () => undefined;
  readonly #replies = new Map<number, Awaited>();
  readonly #inboxes = new Map<number, Inbox>();
  readonly #heart = setInterval(() => this.#beat(), PING_AFTER_MS);

  private constructor(
    private readonly socket: SocketLike,
    private readonly timeoutMs: number,
  ) {
    socket.onmessage = ({ data }) => this.#hear(String(data));
    socket.onclose = ({ code, reason }) => this.#end(lossOf(code, reason));
    // A close event follows, with all the information there is.
    socket.onerror = () => undefined;
  }

  /** Returns a connection after the server's greeting. Throws CONNECTION_LOST without side effects. */
  static async over(socket: SocketLike, timeoutMs: number): Promise<Connection> {
    const connection = new Connection(socket, timeoutMs);
    const greeting = new Promise<Hello>((resolve, reject) => {
      connection.#greeted = resolve;
      connection.#refused = (loss) => reject(failureToConnect(loss));
    });
    const late = () => connectionLost(new Error(`no greeting within ${timeoutMs} ms`));
    try {
      connection.#hello = await within(greeting, timeoutMs, late);
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  get isOpen(): boolean {
    return this.#loss === undefined;
  }

  /** The server's greeting. */
  get hello(): Hello | undefined {
    return this.#hello;
  }

  newId(): number {
    return ++this.#lastId;
  }

  /**
   * Sends a request before it returns, and resolves to the reply. Throws the server's error, CONNECTION_LOST
   * or TIMEOUT.
   */
  async request(request: Request, id: number = this.newId()): Promise<Ok> {
    this.#send(id, request);
    const reply = new Promise<Ok>((resolve, reject) => this.#replies.set(id, { resolve, reject }));
    return within(reply, this.timeoutMs, () => timedOut(this.timeoutMs)).finally(() =>
      this.#replies.delete(id),
    );
  }

  /** Returns the inbox for pushes of the subscription `sub`. */
  inboxOf(sub: number): Inbox {
    const inbox = new Inbox();
    this.#inboxes.set(sub, inbox);
    if (this.#loss !== undefined) inbox.end(this.#loss);
    return inbox;
  }

  /** Discards further pushes of the subscription `sub`. */
  forget(sub: number): void {
    this.#inboxes.delete(sub);
  }

  close(): void {
    this.socket.close(1000);
    this.#end(lossOf(1000, "closed by this client"));
  }

  #send(id: number, request: Request): void {
    if (this.#loss !== undefined) throw failureToConnect(this.#loss);
    const frame = JSON.stringify({ id, ...request });
    const bytesMax = this.#hello?.limits["frame_bytes_max"] ?? Infinity;
    // A code unit has at most three bytes, so only a frame that may be too large is measured.
    if (frame.length * 3 > bytesMax && new TextEncoder().encode(frame).length > bytesMax) {
      throw refusedHere(`the message exceeds the server's limit of ${bytesMax} bytes; send less at once`);
    }
    this.socket.send(frame);
  }

  #hear(text: string): void {
    this.#heardAt = Date.now();
    const message = JSON.parse(text) as Message | readonly Message[];
    if (Array.isArray(message)) message.forEach((each: Message) => this.#take(each));
    else this.#take(message as Message);
  }

  #take(message: Message): void {
    if ("hello" in message) this.#greeted(message.hello);
    else if ("sub" in message) this.#inboxes.get(message.sub)?.put(message as Push);
    else this.#settle(message);
  }

  #settle({ id, ok, error }: Reply): void {
    const awaited = id === null ? undefined : this.#replies.get(id);
    if (ok !== undefined) awaited?.resolve(ok);
    else awaited?.reject(errorOfProblem(error));
  }

  #beat(): void {
    const silentMs = Date.now() - this.#heardAt;
    if (silentMs > GONE_AFTER_MS) {
      this.socket.close(PEER_GONE);
      this.#end(lossOf(PEER_GONE, "the server does not respond"));
    } else if (silentMs > PING_AFTER_MS) {
      this.request({ op: "ping" }).catch(() => undefined);
    }
  }

  #end(loss: TailraceError): void {
    if (this.#loss !== undefined) return;
    this.#loss = loss;
    clearInterval(this.#heart);
    this.#refused(loss);
    this.#replies.forEach((awaited) => awaited.reject(loss));
    this.#inboxes.forEach((inbox) => inbox.end(loss));
  }
}
