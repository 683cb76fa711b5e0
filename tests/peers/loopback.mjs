/* Takes a program that would listen on all interfaces, at a fixed port, to a free port of the loopback interface.
 *
 *     node --import tests/peers/loopback.mjs PROGRAM…
 *
 * Says the URL of what listens there in one line on stdout; its path is /mcp, or what LOOPBACK_PATH says. */
import { Server } from "node:net";

const listen = Server.prototype.listen;

Server.prototype.listen = function (...asked) {
    this.once("listening", () => console.log(`http://127.0.0.1:${this.address().port}${process.env.LOOPBACK_PATH ?? "/mcp"}`));
    return listen.call(this, 0, "127.0.0.1", asked.find((one) => typeof one === "function"));
};
