#!/usr/bin/env python3
"""An MCP client on the official Python SDK that logs in, over Streamable HTTP.

    tests/peers/py-login.py URL

Its user agrees to everything. Calls 'test-tool' and prints its result.
"""
import asyncio
import sys
import urllib.parse

import httpx2
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

REDIRECT_URI = "http://localhost:3000/callback"  # no server listens there
REDIRECTS = 5  # more are a circle


class MemoryStorage(TokenStorage):
    """The storage of a client between its requests."""

    tokens = client = redirected = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info

    async def follow_redirects(self, page):
        async with httpx2.AsyncClient() as browser:
            for _ in range(REDIRECTS):
                answer = await browser.get(page)
                page = answer.headers["location"]
                if page.startswith(REDIRECT_URI):
                    break
        self.redirected = urllib.parse.urlsplit(page)

    async def redirect_result(self):
        assert self.redirected.geturl().startswith(REDIRECT_URI), "the page does not lead back"
        query = dict(urllib.parse.parse_qsl(self.redirected.query))
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def main(url):
    storage = MemoryStorage()
    metadata = OAuthClientMetadata(client_name="mcpreel-py-login", redirect_uris=[REDIRECT_URI], response_types=["code"],
                                   grant_types=["authorization_code", "refresh_token"],
                                   token_endpoint_auth_method="client_secret_post")
    login = OAuthClientProvider(server_url=url, client_metadata=metadata, storage=storage, redirect_handler=storage.follow_redirects,
                                callback_handler=storage.redirect_result)
    async with httpx2.AsyncClient(auth=login, timeout=30) as http, streamable_http_client(url, http_client=http) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            result = await session.call_tool("test-tool", {})
    print(*(content.text for content in result.content))


asyncio.run(main(sys.argv[1]))
