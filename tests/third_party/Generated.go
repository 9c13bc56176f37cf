// A program that uses the Go client of openapi-generator; test_generated_clients.py compiles and runs it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	tailrace "example.com/tailrace/client"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	configuration := tailrace.NewConfiguration()
	configuration.Servers = tailrace.ServerConfigurations{{URL: os.Args[1]}}
	client := tailrace.NewAPIClient(configuration)
	const key, group = "go/generated", "judges"

	body := tailrace.NewGroupBody()
	body.SetAfter("0-0")
	body.SetCreateStream(true)
	_, _, err := client.GroupsAPI.XgroupCreate(ctx, key, group).GroupBody(*body).Execute()
	check(err)

	entry := tailrace.NewXaddBody()
	entry.SetFields(map[string]string{"rider": "Castilla"})
	append := client.EntriesAPI.Xadd(ctx, key).XaddBody(*entry).ProducerId("tour").IdempotencyKey("lap-1")
	first, _, err := append.Execute()
	check(err)
	again, response, err := append.Execute()
	check(err)
	fmt.Println(first.Id == again.Id, response.StatusCode, response.Header.Get("Idempotent-Replayed"))

	read := tailrace.NewGroupReadBody(group, "alice", []tailrace.GroupReadPosition{*tailrace.NewGroupReadPosition(key)})
	read.SetClaimMinIdleMs(60_000)
	read.SetWaitMs(1_000)
	page, _, err := client.ReadsAPI.Xreadgroup(ctx).GroupReadBody(*read).Execute()
	check(err)
	delivered := page.Streams[0].Entries[0]
	fmt.Println(delivered.Id == first.Id, delivered.GetFields()["rider"], delivered.GetDeliveries())

	acknowledged, _, err := client.PendingAPI.Xack(ctx, key, group).AckBody(*tailrace.NewAckBody([]string{first.Id})).Execute()
	check(err)
	fmt.Println(acknowledged.GetAcknowledged())

	_, response, err = client.GroupsAPI.XgroupCreate(ctx, key, group).GroupBody(*body).Execute()
	problem := err.(*tailrace.GenericOpenAPIError).Model().(tailrace.Problem)
	fmt.Println(response.StatusCode, problem.Code)
}
